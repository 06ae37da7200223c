// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/frame.hpp"

#include "cli/look/display.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/watch/bar.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::cli {
namespace {

constexpr std::size_t time_columns = 8;
constexpr std::size_t gap = 2;
constexpr std::size_t rows_for_header = 5;  // a lower screen has none

// How many columns each part of a line has; 0: it is not there.
struct Layout {
  std::size_t name = 0;
  std::size_t holder = 0;
  std::size_t held = 0;
  std::size_t bar = 0;
  std::size_t left = 0;
  std::size_t queue = 0;
};

Layout lay_out(std::size_t columns) {
  Layout layout;
  if (columns >= 76) {
    const auto flexible = columns - 2 * time_columns - 10 - 5 * gap;
    layout = {.name = flexible * 2 / 5,
              .holder = flexible * 3 / 10,
              .held = time_columns,
              .bar = 10,
              .left = time_columns};
    layout.queue = flexible - layout.name - layout.holder;
  } else if (columns >= 44) {
    layout = {.bar = 8, .left = time_columns, .queue = 5};
    layout.name = columns - layout.bar - layout.left - layout.queue - 3 * gap;
  } else if (columns >= 18) {
    layout.left = time_columns;
    layout.name = columns - layout.left - gap;
  } else {
    layout.name = columns;
  }
  return layout;
}

std::string clock_of(text::WallTime now) { return text::format_time(now).substr(11, 8); }

std::string plural(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string title(const View& view, std::size_t columns, text::WallTime now) {
  std::size_t waiting = 0;
  const auto locks = shown(view);
  for (const auto* lock : locks) waiting += lock->waiters.size();
  auto counts = plural(locks.size(), "lock", "locks");
  if (!view.is_complete) counts = "more than " + counts;
  if (waiting > 0) counts += fmt::format(", {} waiting", waiting);
  const auto clock = clock_of(now);
  auto place = cleaned(view.store);
  if (!view.prefix.empty()) place += "  " + cleaned(view.prefix) + "*";
  const auto full = fmt::format("{}  {}", counts, place);
  if (columns < 40) return view.paint(Style::bold, cut(counts, columns));
  return view.paint(Style::bold, padded(full, columns - clock.size() - gap)) + "  " +
         view.paint(Style::dim, clock);
}

// Puts the parts of a line side by side, without those that have no room.
class Line {
 public:
  void add(std::string_view text, std::size_t columns, bool right = false) {
    if (columns > 0) add_ready(right ? right_aligned(text, columns) : padded(text, columns));
  }
  void add_ready(std::string_view text) {
    if (!out_.empty()) out_.append(gap, ' ');
    out_ += text;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string header(const View& view, const Layout& layout) {
  Line line;
  line.add("NAME", layout.name);
  line.add("HOLDER", layout.holder);
  line.add("HELD", layout.held, true);
  line.add(layout.bar > 0 ? "LEFT" : "", layout.bar);
  line.add(layout.bar > 0 ? "" : "LEFT", layout.left, true);
  line.add("QUEUE", layout.queue);
  return view.paint(Style::dim, line.take());
}

std::string queue_words(const LockView& lock, std::size_t columns) {
  if (lock.waiters.empty()) return "";
  auto words = std::to_string(lock.waiters.size());
  constexpr std::size_t room_for_names = 10;
  if (columns < room_for_names) return words;
  constexpr std::size_t most_named = 3;
  words += ": ";
  for (std::size_t i = 0; i < std::min(most_named, lock.waiters.size()); ++i) {
    words += (i > 0 ? ", " : "") + who(lock.waiters[i].metadata);
  }
  if (lock.waiters.size() > most_named) words += ", …";
  return words;
}

std::string holder_words(const LockView& lock) {
  if (lock.holders.empty()) return "nobody";
  auto words = who(lock.holders.front().metadata);
  if (lock.holders.size() > 1) words += fmt::format(" +{}", lock.holders.size() - 1);
  return words;
}

std::string lock_line(const View& view, const LockView& lock, const Layout& layout, Micros passed) {
  Line line;
  line.add(cleaned(lock.name), layout.name);
  line.add(holder_words(lock), layout.holder);
  if (lock.holders.empty()) {
    line.add("", layout.held);
    line.add("", layout.bar);
    line.add(layout.left > 0 ? "free" : "", layout.left, true);
  } else {
    // The lease that ends last keeps the lock.
    const auto& last = std::ranges::max(lock.holders, {}, &HolderView::remaining);
    const auto left = std::max(last.remaining - passed, Micros::zero());
    const auto part = part_left(left, length_of(view, last));
    const auto style = bar_style(part);
    line.add(readable(*age(lock) + passed), layout.held, true);
    if (layout.bar > 0) line.add_ready(view.paint(style, bar(part, layout.bar)));
    if (layout.left > 0) {
      line.add_ready(view.paint(style, right_aligned(readable(left), layout.left)));
    }
  }
  line.add(queue_words(lock, layout.queue), layout.queue);
  return line.take();
}

std::string status_line(const View& view, Size size) {
  const auto width = size.columns;
  if (view.is_typing) return cut("names that begin with: " + cleaned(view.filter) + "_", width);
  if (!view.trouble.empty()) {
    return view.paint(Style::red, cut("trying again: " + cleaned(view.trouble), width));
  }
  const auto count = shown(view).size();
  const auto rows = rows_for_locks(size);
  std::string words = width < 40 ? "q quit" : "q quit  ↑↓ scroll  / filter";
  if (count > rows) {
    words = fmt::format("{}–{} of {}  {}", view.top + 1, std::min(view.top + rows, count), count,
                        words);
  }
  if (!view.filter.empty()) words = cleaned(view.filter) + "*  " + words;
  return view.paint(Style::dim, cut(words, width));
}

std::string nothing_line(const View& view, std::size_t columns) {
  if (view.seen_at == text::WallTime{}) return "";
  if (!view.filter.empty()) return cut("no lock begins with " + cleaned(view.filter), columns);
  if (view.prefix.empty()) return cut("no locks", columns);
  return cut("no lock begins with " + cleaned(view.prefix), columns);
}

}  // namespace

std::size_t rows_for_locks(Size size) {
  const std::size_t others = size.rows >= rows_for_header ? 3 : 2;
  return size.rows > others ? size.rows - others : 1;
}

std::vector<std::string> frame_lines(const View& view, Size size, text::WallTime now) {
  std::vector<std::string> lines;
  const auto layout = lay_out(size.columns);
  const auto room = rows_for_locks(size);
  if (size.rows > 2) lines.push_back(title(view, size.columns, now));
  if (size.rows >= rows_for_header) lines.push_back(header(view, layout));
  const auto first = lines.size();
  const auto passed = std::max(std::chrono::floor<Micros>(now - view.seen_at), Micros::zero());
  const auto locks = shown(view);
  for (std::size_t i = view.top; i < locks.size() && i < view.top + room; ++i) {
    lines.push_back(lock_line(view, *locks[i], layout, passed));
  }
  if (locks.empty()) lines.push_back(nothing_line(view, size.columns));
  lines.resize(first + room);
  if (size.rows > 1) lines.push_back(status_line(view, size));
  return lines;
}

std::string render(const View& view, Size size, text::WallTime now) {
  std::string out;
  std::size_t row = 0;
  for (const auto& line : frame_lines(view, size, now)) {
    // Erased before it is written: behind a full line the cursor stands on its last character.
    out += fmt::format("\x1b[{};1H\x1b[2K{}", ++row, line);
  }
  return out;
}

}  // namespace holdfast::cli
