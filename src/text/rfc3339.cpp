// SPDX-License-Identifier: Apache-2.0
#include "text/rfc3339.hpp"

#include <chrono>

namespace holdfast::text {
namespace {

namespace chrono = std::chrono;

class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }
  bool next_is(char c) const { return rest_.starts_with(c); }

  // Exactly so many digits.
  int number(int digits, int most) {
    int value = 0;
    for (; digits > 0; --digits) value = value * 10 + digit();
    if (value > most) failed_ = true;
    return value;
  }
  void expect(char c) {
    if (!next_is(c)) failed_ = true;
    skip();
  }
  char take() {
    const char c = rest_.empty() ? '\0' : rest_.front();
    skip();
    return c;
  }
  // The digits of a fraction, one to nine.
  chrono::microseconds fraction() {
    chrono::microseconds value{};
    chrono::microseconds unit = chrono::milliseconds(100);
    int digits = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++digits) {
      value += digit() * unit;
      unit /= 10;
    }
    if (digits == 0 || digits > 9) failed_ = true;
    return value;
  }

 private:
  int digit() {
    const char c = take();
    if (c < '0' || c > '9') failed_ = true;
    return failed_ ? 0 : c - '0';
  }
  void skip() { rest_.remove_prefix(rest_.empty() ? 0 : 1); }

  std::string_view rest_;
  bool failed_ = false;
};

chrono::minutes read_offset(TimeReader& in) {
  if (in.next_is('Z')) {
    in.expect('Z');
    return {};
  }
  const bool is_west = in.next_is('-');
  in.expect(is_west ? '-' : '+');
  chrono::minutes offset = chrono::hours(in.number(2, 23));
  in.expect(':');
  offset += chrono::minutes(in.number(2, 59));
  return is_west ? -offset : offset;
}

}  // namespace

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  TimeReader in(text);
  const chrono::year year(in.number(4, 9999));
  in.expect('-');
  const chrono::month month(static_cast<unsigned>(in.number(2, 12)));
  in.expect('-');
  const chrono::day day(static_cast<unsigned>(in.number(2, 31)));
  in.expect('T');
  chrono::microseconds time = chrono::hours(in.number(2, 23));
  in.expect(':');
  time += chrono::minutes(in.number(2, 59));
  in.expect(':');
  time += chrono::seconds(in.number(2, 59));
  if (in.next_is('.')) {
    in.expect('.');
    time += in.fraction();
  }
  const auto offset = read_offset(in);
  const chrono::year_month_day date(year, month, day);
  if (in.failed() || !in.at_end() || !date.ok()) return std::nullopt;
  return chrono::sys_days(date) + time - offset;
}

}  // namespace holdfast::text
