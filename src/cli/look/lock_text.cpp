// SPDX-License-Identifier: Apache-2.0
#include "cli/look/lock_text.hpp"

#include "cli/look/display.hpp"
#include "cli/look/table.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::cli {
namespace {

std::string kind_words(const LockView& lock) {
  if (lock.kind != Kind::semaphore) return std::string(text::to_word(lock.kind));
  return fmt::format("semaphore of {}", lock.capacity);
}

std::string heading(const LockView& lock) {
  const auto name = cleaned(lock.name);
  const auto waiting = lock.waiters.size();
  const auto queue = waiting == 0 ? std::string() : fmt::format(", {} waiting", waiting);
  if (lock.holders.empty()) return fmt::format("{}: free{}", name, queue);
  const auto held = lock.holders.size() == 1 ? std::string("held")
                                             : fmt::format("held by {}", lock.holders.size());
  return fmt::format("{}: {}, {}{}", name, kind_words(lock), held, queue);
}

constexpr std::string_view indent = "  ";

void put_field(std::vector<std::string>& lines, std::string_view label, std::string_view value) {
  if (!value.empty()) lines.push_back(fmt::format("{}{}{:<9}{}", indent, indent, label, value));
}

void put_holder(std::vector<std::string>& lines, const HolderView& holder, const LockView& lock,
                text::WallTime now) {
  lines.push_back(fmt::format("{}{} ({}){}", indent, who_exactly(holder.metadata),
                              share(lock.kind, holder.permits),
                              holder.claimed ? ", not yet confirmed" : ""));
  const auto held = std::max(holder.held_for, Micros::zero());
  put_field(lines, "since", fmt::format("{} ({})", readable_time(now - held), readable(held)));
  put_field(lines, "left", readable(holder.remaining));
  put_field(lines, "fence", std::to_string(holder.fence));
  if (!holder.metadata) return;
  put_field(lines, "note", cleaned(holder.metadata->note));
  put_field(lines, "source", cleaned(holder.metadata->source));
  put_field(lines, "value", cleaned(holder.metadata->value));
}

std::string note_of(const std::shared_ptr<const Metadata>& metadata) {
  return metadata ? cleaned(metadata->note) : std::string();
}

std::string on_host(const std::string& program, const std::string& host) {
  const auto what = program.empty() ? "a program" : cleaned(program);
  return host.empty() ? what : fmt::format("{} on {}", what, cleaned(host));
}

// Of a quorum: what each member says, so that one sees which of them a majority can do without.
void put_members(std::vector<std::string>& lines, std::span<const MemberView> members) {
  if (members.empty()) return;
  lines.emplace_back("members");
  Table table({{"ADDRESS"}, {"STATE"}, {"FENCE"}, {"LEFT", 0, true}, {"NOTE"}});
  for (const auto& member : members) {
    const bool is_held = member.state == MemberView::State::held;
    const bool answered = is_held || member.state == MemberView::State::free;
    const bool is_ignored = answered && !member.counts;
    std::string state(to_string(member.state));
    std::ranges::replace(state, '_', ' ');
    table.add({cleaned(member.address), state, is_held ? std::to_string(member.fence) : "",
               is_held ? readable(member.remaining) : "",
               fmt::format("{}{}", is_ignored ? "not counted: " : "", cleaned(member.reason))});
  }
  for (const auto& line : table.lines()) lines.push_back(fmt::format("{}{}", indent, line));
}

}  // namespace

std::string who(const std::shared_ptr<const Metadata>& metadata) {
  if (!metadata || !metadata->process) return "unknown";
  const auto& process = *metadata->process;
  // Of `holdfast run` the note tells more than the program: it is the command, or what was said.
  const bool is_run = process.program == "holdfast" && !metadata->note.empty();
  return on_host(is_run ? metadata->note : process.program, process.host);
}

std::string who_exactly(const std::shared_ptr<const Metadata>& metadata) {
  if (!metadata || !metadata->process) return "unknown";
  const auto& process = *metadata->process;
  const auto text = on_host(process.program, process.host);
  return process.pid != 0 ? fmt::format("{}, pid {}", text, process.pid) : text;
}

std::string share(Kind kind, std::uint32_t permits) {
  if (permits == all_permits || kind == Kind::reentrant || kind == Kind::election) {
    return "exclusive";
  }
  if (kind == Kind::read_write || kind == Kind::mutex) return "shared";
  return permits == 1 ? "1 permit" : fmt::format("{} permits", permits);
}

std::string readable_time(text::WallTime time) {
  auto out = text::format_time(time);
  out[out.find('T')] = ' ';
  out.erase(out.find('.'));
  return out + " UTC";
}

std::optional<Micros> age(const LockView& lock) {
  if (lock.holders.empty()) return std::nullopt;
  return std::ranges::max(lock.holders, {}, &HolderView::held_for).held_for;
}

void sort_by_age(std::vector<LockView>& locks) {
  std::ranges::sort(locks, [](const LockView& a, const LockView& b) {
    const auto first = age(a);
    const auto second = age(b);
    // An absent age is smaller than every other.
    return first == second ? a.name < b.name : first > second;
  });
}

std::vector<std::string> status_lines(const LockView& lock, text::WallTime now) {
  std::vector<std::string> lines{heading(lock)};
  if (!lock.holders.empty()) lines.emplace_back("held by");
  for (const auto& holder : lock.holders) put_holder(lines, holder, lock, now);
  if (!lock.waiters.empty()) lines.emplace_back("queue");
  std::size_t place = 0;
  for (const auto& waiter : lock.waiters) {
    const auto note = note_of(waiter.metadata);
    lines.push_back(fmt::format("{}{:>2}  {} ({}), for {}{}", indent, ++place,
                                who_exactly(waiter.metadata), share(lock.kind, waiter.permits),
                                readable(waiter.waiting_for), note.empty() ? "" : ": " + note));
  }
  put_members(lines, lock.members);
  return lines;
}

std::vector<std::string> history_lines(std::span<const LockEvent> events) {
  Table table({{"TIME"}, {"EVENT"}, {"FENCE"}, {"HOLDER"}, {"NOTE"}});
  for (const auto& event : events) {
    const auto at = std::chrono::floor<Micros>(event.at);
    table.add({readable_time(at), cleaned(event.what),
               event.fence == 0 ? "" : std::to_string(event.fence), who_exactly(event.metadata),
               note_of(event.metadata)});
  }
  return table.lines();
}

std::vector<std::string> list_lines(std::span<const LockView> locks,
                                    std::optional<std::size_t> width) {
  Table table({{"NAME", 16},
               {"KIND"},
               {"HOLDER", 10},
               {"HELD", 0, true},
               {"LEFT", 0, true},
               {"QUEUE", 0, true},
               {"NOTE", 4}});
  for (const auto& lock : locks) {
    const bool held = !lock.holders.empty();
    auto holder = held ? who(lock.holders.front().metadata) : std::string("nobody");
    if (lock.holders.size() > 1) holder += fmt::format(" +{}", lock.holders.size() - 1);
    const auto left =
        held ? std::ranges::max(lock.holders, {}, &HolderView::remaining).remaining : Micros();
    table.add({cleaned(lock.name), std::string(text::to_word(lock.kind)), holder,
               held ? readable(*age(lock)) : "", held ? readable(left) : "",
               lock.waiters.empty() ? "" : std::to_string(lock.waiters.size()),
               held ? note_of(lock.holders.front().metadata) : ""});
  }
  return table.lines(width);
}

}  // namespace holdfast::cli
