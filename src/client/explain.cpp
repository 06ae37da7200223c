// SPDX-License-Identifier: Apache-2.0
#include "client/explain.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace holdfast::client {

namespace {

std::chrono::milliseconds ms(Micros time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time);
}

std::string holder_text(const HolderView& holder) {
  const auto& metadata = holder.metadata;
  if (!metadata || !metadata->process) return "another owner";
  const ProcessInfo& process = *metadata->process;
  return fmt::format("{} (pid {} on {})", process.program, process.pid, process.host);
}

}  // namespace

std::string explain_busy(const LockName& name, const model::Busy& busy) {
  if (busy.holders.empty()) {
    return fmt::format("'{}' is free, but others wait in its queue", name.str());
  }
  const std::string others =
      busy.holder_count > 1 ? fmt::format(" and {} more", busy.holder_count - 1) : "";
  const std::string where =
      busy.members > 0 ? fmt::format(" on {} of {} members", busy.held_by_members, busy.members)
                       : "";
  return fmt::format("'{}' has been held by {}{}{} for {}; the lease ends in {} unless renewed",
                     name.str(), holder_text(busy.holders.front()), others, where,
                     ms(busy.holders.front().held_for), ms(busy.retry_after));
}

std::string explain_timeout(const LockName& name, Micros wait) {
  return fmt::format("'{}' did not come free within {}", name.str(), ms(wait));
}

Error explain_silence(const LockName& name, std::string_view store, Micros wait) {
  return {Errc::timed_out,
          fmt::format("'{}': {} did not answer within {}", name.str(), store, ms(wait))};
}

Error explain_outage(const LockName& name, const Error& last, const WaitInVain& wait) {
  const std::string away =
      wait.away ? fmt::format(", the last {} without the store", ms(*wait.away)) : "";
  const std::string before =
      wait.queued ? fmt::format(" (was waiting behind {})", wait.queued->ahead) : "";
  const std::string label = fmt::format("'{}': ", name.str());
  std::string_view reason = last.message;
  if (reason.starts_with(label)) reason.remove_prefix(label.size());
  return {last.code,
          fmt::format("{}tried for {}{}{}: {}", label, ms(wait.tried), away, before, reason)};
}

std::string explain_late(const LockName& name) {
  return fmt::format("'{}' was granted, but the answer took longer than the lease", name.str());
}

std::string explain_cancel(const LockName& name) {
  return fmt::format("waiting for '{}' was cancelled", name.str());
}

Error explain_refusal(const LockName& name, const model::LockOutcome& outcome) {
  if (const auto* refused = std::get_if<model::Refused>(&outcome)) {
    return {refused->error.code, fmt::format("'{}': {}", name.str(), refused->error.message)};
  }
  if (std::holds_alternative<model::NotOwner>(outcome)) {
    return {Errc::not_owner, fmt::format("'{}' is held by another owner", name.str())};
  }
  return {Errc::not_held, fmt::format("'{}' is not held", name.str())};
}

}  // namespace holdfast::client
