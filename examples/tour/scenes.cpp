// SPDX-License-Identifier: Apache-2.0
#include "scenes.hpp"

#include <algorithm>
#include <csignal>
#include <stdexcept>

namespace tour {

std::atomic<bool> interrupted = false;

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto frame = 50ms;
constexpr auto patience = 20s;
constexpr auto a_long_time = 60s;

std::chrono::milliseconds since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
}

// "[=======   ]" for what is left of a lease.
std::string bar(double part) {
  constexpr std::size_t width = 20;
  std::string text(static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * width), '=');
  text.resize(width, ' ');
  return '[' + text + ']';
}

std::string ms(std::chrono::milliseconds time) {
  return time < 1ms ? "less than 1 ms" : std::to_string(time.count()) + " ms";
}

}  // namespace

Tour::Tour(holdfast::Client client, const std::string& store, Pace pace)
    : client_(std::move(client)), pace_(pace), crew_(store) {
  screen_.title("Holdfast: several processes, one lock, no server");
  screen_.note("store " + store + ", lock " + std::string(lock_name), Style::dim);
}

void Tour::five_want_one() {
  screen_.scene("1. Five processes want the same lock",
                "The store keeps them in line, wakes the next one, and gives each grant a larger "
                "fence.");
  const std::string names[] = {"ada", "ben", "cleo", "dan", "eve"};
  for (const auto& name : names) crew_.start({name, pace_.rounds, pace_.hold, pace_.ttl});
  const int expected = pace_.rounds * static_cast<int>(std::size(names));
  int released = 0;
  watch_until([&](const Report& report) {
    return report.event == Event::released && ++released == expected;
  });
  for (const auto& name : names) crew_.join(name);
}

void Tour::a_holder_is_killed() {
  screen_.scene("2. A holder is killed",
                "Nobody is left to give the lock back. It passes on when the lease ends.");
  crew_.start({"ada", 1, a_long_time, pace_.ttl});
  watch_for("ada", Event::holds);
  crew_.start({"ben", 1, pace_.hold, pace_.ttl});
  watch_for_a_while();
  crew_.send("ada", SIGKILL);
  crew_.join("ada");
  const auto killed = Clock::now();
  screen_.line("ada", "is killed (SIGKILL)", Style::bad);
  watch_for("ben", Event::holds);
  passed_on_after_ = since(killed);
  watch_for("ben", Event::released);
  crew_.join("ben");
}

void Tour::a_holder_is_paused() {
  screen_.scene("3. A holder is paused for too long",
                "Its code goes on one day. It then learns that the lease is lost; its fence is too "
                "old.");
  crew_.start({"cleo", 1, a_long_time, pace_.ttl});
  watch_for("cleo", Event::holds);
  crew_.start({"dan", 1, pace_.hold, pace_.ttl});
  watch_for_a_while();
  crew_.send("cleo", SIGSTOP);
  screen_.line("cleo", "is paused (SIGSTOP), and its lease is not renewed", Style::bad);
  watch_for("dan", Event::released);
  crew_.join("dan");
  const auto woken = Clock::now();
  crew_.send("cleo", SIGCONT);
  screen_.line("cleo", "goes on (SIGCONT)");
  watch_for("cleo", Event::lost);
  noticed_after_ = since(woken);
  watch_for("cleo", Event::released);
  crew_.join("cleo");
}

bool Tour::sum_up() {
  const bool good = fences_that_went_back_ == 0 && refused_writes_ == 1;
  screen_.title(good ? "As promised" : "Not as promised");
  screen_.note(fences_that_went_back_ == 0
                   ? std::to_string(grants_) +
                         " grants, each with a larger fence than the one before"
                   : std::to_string(fences_that_went_back_) + " fences did not grow");
  screen_.note("the lock of the killed process passed on after " + ms(passed_on_after_) +
               ", when its ttl of " + ms(pace_.ttl) + " was over");
  screen_.note("the paused process knew it " + ms(noticed_after_) + " after waking, and " +
               std::to_string(refused_writes_) + " late write was refused");
  screen_.note("read on: README.md, docs/semantics.md, examples/\n", Style::dim);
  return good;
}

std::optional<Report> Tour::show_next() {
  if (interrupted) throw std::runtime_error("interrupted");
  show_live();
  auto report = crew_.next(frame);
  if (report && report->event == Event::failed) throw std::runtime_error(report->who + " failed");
  if (report) show(*report);
  return report;
}

void Tour::watch_until(const std::function<bool(const Report&)>& enough) {
  const auto begin = Clock::now();
  while (since(begin) < patience) {
    const auto report = show_next();
    if (report && enough(*report)) return;
  }
  throw std::runtime_error("a process did not report in time");
}

void Tour::watch_for(const std::string& who, Event event) {
  watch_until([&](const Report& report) { return report.who == who && report.event == event; });
}

void Tour::watch_for_a_while() {
  const auto begin = Clock::now();
  while (since(begin) < 2 * pace_.hold) show_next();
}

void Tour::show(const Report& report) {
  if (report.event == Event::holds) show_grant(report);
  if (report.event == Event::writes) show_write(report);
  if (report.event == Event::lost) {
    screen_.line(report.who, "learns that its lease is lost", Style::bad);
  }
}

void Tour::show_grant(const Report& report) {
  ++grants_;
  if (report.fence <= last_fence_) ++fences_that_went_back_;
  last_fence_ = report.fence;
  const std::string waiting = in_line();
  screen_.line(report.who,
               "holds, fence " + std::to_string(report.fence) +
                   (waiting.empty() ? "" : "   in line: " + waiting),
               Style::bold);
}

// The resource: it remembers the largest fence it has seen and refuses everything older.
void Tour::show_write(const Report& report) {
  const bool accepted = report.fence >= highest_fence_written_;
  if (accepted) highest_fence_written_ = report.fence;
  if (accepted) return;
  ++refused_writes_;
  screen_.line(report.who,
               "writes with fence " + std::to_string(report.fence) +
                   ": refused, the resource has seen " + std::to_string(highest_fence_written_),
               Style::good);
}

std::string Tour::in_line() const {
  std::string names;
  const auto lock = client_.inspect(lock_name);
  if (!lock) return names;
  for (const auto& waiter : lock->waiters) {
    if (waiter.metadata) names += (names.empty() ? "" : " ") + waiter.metadata->note;
  }
  return names;
}

void Tour::show_live() {
  const auto lock = client_.inspect(lock_name);
  if (!lock) return;
  std::string text = "free";
  for (const auto& holder : lock->holders) {
    const std::chrono::duration<double> left = holder.remaining;
    text = bar(left / std::chrono::duration<double>(pace_.ttl)) + "  " +
           (holder.metadata ? holder.metadata->note : "somebody") + " holds";
  }
  const std::string waiting = in_line();
  screen_.live(text + (waiting.empty() ? "" : "   in line: " + waiting));
}

}  // namespace tour
