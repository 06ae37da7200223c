// SPDX-License-Identifier: Apache-2.0
#include "cli/process/waiting_line.hpp"

#include "cli/look/display.hpp"
#include "cli/look/lock_text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace holdfast::cli {
namespace {

std::size_t error_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// "2 of 3 in line", or nothing while the store has not seen us.
std::string place(const LockView& lock, std::string_view host, std::int64_t pid) {
  for (std::size_t i = 0; i < lock.waiters.size(); ++i) {
    const auto& metadata = lock.waiters[i].metadata;
    if (!metadata || !metadata->process) continue;
    if (metadata->process->pid != pid || metadata->process->host != host) continue;
    return fmt::format(" ({} of {} in line)", i + 1, lock.waiters.size());
  }
  return "";
}

}  // namespace

std::string describe_wait(const LockView& lock, std::string_view host, std::int64_t pid) {
  auto text = fmt::format("waiting for '{}'{}", cleaned(lock.name), place(lock, host, pid));
  if (lock.holders.empty()) return text;
  const auto& holder = lock.holders.front();
  text += fmt::format(": held by {}", who_exactly(holder.metadata));
  if (holder.metadata && !holder.metadata->note.empty()) {
    text += fmt::format(" ({})", cleaned(holder.metadata->note));
  }
  text += fmt::format(", for {}", readable(holder.held_for));
  const auto others = lock.holders.size() - 1;
  return others == 0 ? text : fmt::format("{} and {} more", text, others);
}

WaitingLine::WaitingLine(const Console& console)
    : active_(!console.json() && !console.quiet() && isatty(STDERR_FILENO) == 1) {}

void WaitingLine::show(std::string_view text) {
  if (!active_) return;
  shown_ = true;
  // The last column stays free: a terminal that wraps there could not wipe the line.
  (void)write_all(STDERR_FILENO, fmt::format("\r\x1b[K{}", cut(text, error_columns() - 1)));
}

void WaitingLine::wipe() {
  if (!std::exchange(shown_, false)) return;
  (void)write_all(STDERR_FILENO, "\r\x1b[K");
}

}  // namespace holdfast::cli
