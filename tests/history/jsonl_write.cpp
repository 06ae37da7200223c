// SPDX-License-Identifier: Apache-2.0
#include "history/jsonl.hpp"
#include "history/jsonl_format.hpp"

#include <fmt/format.h>

#include <iterator>

namespace holdfast::history {

namespace {

constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();

class Line {
 public:
  explicit Line(std::string& to) : to_(to) {}

  template <typename Number>
  void number(Field field, Number value) {
    begin(field);
    fmt::format_to(std::back_inserter(to_), "{}", value);
  }
  void time(Field field, Time value) {
    if (value == for_ever)
      word(field, "never");
    else
      number(field, value);
  }
  void count(Field field, std::uint32_t value) {
    if (value == all)
      word(field, "all");
    else
      number(field, value);
  }
  void flag(Field field, bool value) {
    begin(field);
    to_ += value ? "true" : "false";
  }
  void word(Field field, std::string_view value) {
    begin(field);
    to_ += '"';
    for (const char c : value) escape(c);
    to_ += '"';
  }
  void end() { to_ += "}\n"; }

 private:
  void begin(Field field) {
    to_ += is_first_ ? '{' : ',';
    is_first_ = false;
    to_ += '"';
    to_ += field_names[static_cast<std::size_t>(field)];
    to_ += "\":";
  }
  void escape(char c) {
    if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(to_), "\\u{:04x}", static_cast<unsigned>(c));
      return;
    }
    if (c == '"' || c == '\\') to_ += '\\';
    to_ += c;
  }

  std::string& to_;
  bool is_first_ = true;
};

void put_attempt(Line& line, const History& history, const Attempt& attempt) {
  line.word(Field::name, history.names[attempt.name - 1]);
  line.number(Field::process, attempt.process);
  line.number(Field::owner, attempt.owner);
  line.count(Field::permits, attempt.permits);
  line.count(Field::capacity, attempt.capacity);
  if (attempt.reentrant) line.flag(Field::reentrant, true);
  if (attempt.fifo) line.flag(Field::fifo, true);
  if (attempt.waits) line.flag(Field::waits, true);
  if (attempt.converts != 0) line.number(Field::converts, attempt.converts);
  line.number(Field::ttl_ns, attempt.ttl);
  if (attempt.give_up != for_ever) line.number(Field::give_up_ns, attempt.give_up);
  if (attempt.renews) line.flag(Field::renews, true);
  if (attempt.max_hold != 0) line.number(Field::max_hold_ns, attempt.max_hold);
  if (attempt.least_ttl != 0) line.number(Field::least_ttl_ns, attempt.least_ttl);
}

// What `number` is called.
Field number_field(What what) {
  if (what == What::queued) return Field::place;
  if (what == What::freed) return Field::left;
  if (what == What::clock_stepped) return Field::step_ns;
  return Field::value;
}

}  // namespace

void append_jsonl(const History& history, std::size_t index, std::string& to) {
  const Event& event = history.events[index];
  const EventFormat& format = event_formats[static_cast<std::size_t>(event.what)];
  Line line(to);
  line.number(Field::at_ns, event.at);
  line.word(Field::event, format.name);
  // An optional field is left out where it says nothing.
  const auto says = [&](Field field, bool something) {
    return (format.required & bit(field)) != 0 ||
           ((format.optional & bit(field)) != 0 && something);
  };
  if (says(Field::op, false)) line.number(Field::op, event.op);
  if (event.what == What::asked) {
    put_attempt(line, history, history.attempt(event.op));
    return line.end();
  }
  if (says(Field::by, event.by != 0)) line.number(Field::by, event.by);
  if (says(Field::name, false)) line.word(Field::name, history.names[event.name - 1]);
  if (says(Field::process, event.process != 0)) line.number(Field::process, event.process);
  if (says(Field::fence, event.fence != 0)) line.number(Field::fence, event.fence);
  if (says(Field::since_ns, event.since != 0)) line.number(Field::since_ns, event.since);
  if (says(Field::until_ns, false)) line.time(Field::until_ns, event.until);
  const Field number = number_field(event.what);
  if (says(number, event.number != 0)) line.number(number, event.number);
  if (says(Field::accepted, false)) line.flag(Field::accepted, event.accepted);
  if (says(Field::claim, event.claim)) line.flag(Field::claim, true);
  if (says(Field::delays, event.delays)) line.flag(Field::delays, true);
  if (says(Field::detail, false)) {
    line.word(Field::detail, detail_names[static_cast<std::size_t>(event.detail)]);
  }
  const Time patience = event.until - event.at;
  if (says(Field::patience_ns, patience > 0)) line.number(Field::patience_ns, patience);
  line.end();
}

std::string to_jsonl(const History& history) {
  std::string text;
  for (std::size_t i = 0; i < history.events.size(); ++i) append_jsonl(history, i, text);
  return text;
}

}  // namespace holdfast::history
