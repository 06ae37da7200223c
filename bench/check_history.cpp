// SPDX-License-Identifier: Apache-2.0
//
// The checker of histories: a million operations from a file, and the short histories that the
// simulator hands it by the thousand. The floor is reading the file without understanding it.
#include "history/check.hpp"
#include "history/jsonl.hpp"
#include "support/bars.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <deque>

namespace holdfast::bench {

namespace {

using namespace history;

constexpr std::size_t repeats = 3;
constexpr std::size_t large = 1'000'000;
constexpr std::size_t small = 200;
constexpr std::size_t small_rounds = 5000;
constexpr Time millisecond = 1'000'000;
constexpr Time ttl = 1000 * millisecond;

// Fifo mutexes with a few waiters each, one after the other, with renewals, increments, and the
// store's side of it: ten events for an operation.
class Maker {
 public:
  Maker(std::size_t operations, std::size_t names) {
    for (std::size_t i = 0; i < names; ++i) history_.names.push_back(fmt::format("order:{}", i));
    values_.resize(names);
    lines_.resize(names);
    for (std::size_t i = 0; i < operations; ++i) {
      ask(i % names);
      if (lines_[i % names].size() > waiters) serve(i % names);
    }
    for (std::size_t name = 0; name < names; ++name) {
      while (!lines_[name].empty()) serve(name);
    }
    add({.what = What::ended});
  }

  History take() { return std::move(history_); }

 private:
  static constexpr std::size_t waiters = 3;

  Event& add(Event event) {
    now_ += millisecond / 10;
    event.at = now_;
    if (event.op != 0) event.process = history_.attempt(event.op).process;
    return history_.events.emplace_back(event);
  }

  void ask(std::size_t name) {
    const auto op = static_cast<OpId>(history_.attempts.size() + 1);
    history_.attempts.push_back({.name = static_cast<NameId>(name + 1),
                                 .process = 1 + op % 16,
                                 .owner = op,
                                 .permits = UINT32_MAX,
                                 .capacity = UINT32_MAX,
                                 .fifo = true,
                                 .waits = true,
                                 .ttl = ttl});
    add({.op = op, .what = What::asked});
    add({.number = op, .op = op, .what = What::queued});
    lines_[name].push_back(op);
  }

  void serve(std::size_t name) {
    const OpId op = lines_[name].front();
    lines_[name].pop_front();
    const std::uint64_t fence = ++fence_;
    add({.until = now_ + ttl, .fence = fence, .op = op, .what = What::held});
    add({.until = now_ + ttl - 20 * millisecond, .fence = fence, .op = op, .what = What::granted});
    add({.fence = fence, .number = values_[name], .op = op, .what = What::read, .accepted = true});
    add({.fence = fence,
         .number = ++values_[name],
         .op = op,
         .what = What::wrote,
         .accepted = true});
    add({.op = op, .what = What::releasing});
    add({.op = op, .by = op, .what = What::freed});
    add({.op = op, .what = What::released, .detail = Detail::released});
  }

  History history_;
  std::vector<std::int64_t> values_;
  std::vector<std::deque<OpId>> lines_;
  Time now_ = 0;
  std::uint64_t fence_ = 1'000'000;
};

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::FILE* written(const History& history) {
  std::FILE* file = std::tmpfile();
  if (!file) give_up("no temporary file");
  std::string text;
  for (std::size_t i = 0; i < history.events.size(); ++i) {
    append_jsonl(history, i, text);
    if (text.size() < (1U << 20U) && i + 1 < history.events.size()) continue;
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) give_up("the disk is full");
    text.clear();
  }
  return file;
}

double bare_read_s(std::FILE* file) {
  std::rewind(file);
  std::vector<char> buffer(1U << 20U);
  return seconds_of([&] {
    while (std::fread(buffer.data(), 1, buffer.size(), file) > 0) {
    }
  });
}

void expect_clean(Checker& checker, const History& history) {
  const auto violations = checker.check(history);
  if (!violations.empty()) give_up(violations.front().why);
}

void measure_a_file() {
  std::FILE* file = written(Maker(large, 1000).take());
  std::vector<double> floor;
  std::vector<double> parsing;
  std::vector<double> whole;
  for (std::size_t i = 0; i < repeats; ++i) {
    floor.push_back(bare_read_s(file));
    std::rewind(file);
    whole.push_back(seconds_of([&] {
      Checker checker;
      Parsed history;
      parsing.push_back(seconds_of([&] { history = read_jsonl(file); }));
      if (!history || history->attempts.size() != large) give_up("the file came back wrong");
      expect_clean(checker, *history);
    }));
  }
  print_row(fmt::format("{} MB of JSONL: bytes only", std::ftell(file) / 1'000'000), floor, "s");
  print_row("read as a history", parsing, "s");
  print_row("read and checked: 1,000,000 operations", whole, "s");
  std::fclose(file);
  bar_at_most("simulation.check_history_1m_s", median(whole), 10);
}

void measure_small_ones() {
  const History history = Maker(small, 3).take();
  Checker checker;
  std::vector<double> each;
  for (std::size_t i = 0; i < repeats; ++i) {
    const double seconds = seconds_of([&] {
      for (std::size_t round = 0; round < small_rounds; ++round) expect_clean(checker, history);
    });
    each.push_back(seconds / small_rounds * 1e6);
  }
  print_row(fmt::format("{} operations, {} events in memory", small, history.events.size()), each,
            "us");
  bar_at_most("simulation.check_history_small_us", median(each), 60);
}

}  // namespace

}  // namespace holdfast::bench

int main() {
  holdfast::bench::measure_small_ones();
  holdfast::bench::measure_a_file();
}
