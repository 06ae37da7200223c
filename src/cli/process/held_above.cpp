// SPDX-License-Identifier: Apache-2.0
#include "cli/process/held_above.hpp"

#include "text/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace holdfast::cli {
namespace {

std::vector<std::string> lines_of(const char* variable) {
  const char* value = std::getenv(variable);
  std::vector<std::string> lines;
  if (value == nullptr) return lines;
  std::istringstream text(value);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

template <typename Field>
std::string joined(std::string_view variable, std::span<const Lease> leases, Field field) {
  std::string out(variable);
  for (const auto& lease : leases) {
    out += out.size() == variable.size() ? '=' : '\n';
    out += field(lease);
  }
  return out;
}

// Whether the lock can come to whoever asks while this holder stays.
bool may_join(const LockView& lock, const HolderView& holder, const LockChoice& choice) {
  if (choice.permits) {
    return std::uint64_t{holder.permits} + choice.permits->wanted <= choice.permits->capacity;
  }
  return choice.shared && holder.permits != all_permits && lock.waiters.empty();
}

}  // namespace

std::vector<std::string> variables_for(std::span<const Lease> leases) {
  return {joined("HOLDFAST_NAME", leases, [](const Lease& lease) { return lease.name().str(); }),
          joined("HOLDFAST_FENCE", leases,
                 [](const Lease& lease) { return std::to_string(lease.fence()); }),
          joined("HOLDFAST_OWNER", leases, [](const Lease& lease) { return lease.owner().str(); })};
}

std::string owner_above(const std::string& name) {
  const auto names = lines_of("HOLDFAST_NAME");
  const auto owners = lines_of("HOLDFAST_OWNER");
  for (std::size_t i = 0; i < std::min(names.size(), owners.size()); ++i) {
    if (names[i] == name) return owners[i];
  }
  return owners.size() == 1 ? owners.front() : "";
}

Result<void> refuse_to_wait_for_ourselves(const Client& client,
                                          const std::vector<std::string>& wanted,
                                          const LockChoice& choice) {
  // An owner enters its own lock again.
  if (choice.reentrant) return {};
  const auto names = lines_of("HOLDFAST_NAME");
  const auto fences = lines_of("HOLDFAST_FENCE");
  for (std::size_t i = 0; i < std::min(names.size(), fences.size()); ++i) {
    if (std::ranges::find(wanted, names[i]) == wanted.end()) continue;
    const auto lock = client.inspect(names[i]);
    if (!lock) continue;
    for (const auto& holder : lock->holders) {
      if (std::to_string(holder.fence) != fences[i] || may_join(*lock, holder, choice)) continue;
      return fail(Errc::deadlock,
                  fmt::format("{} is held by the command that this one is part of, so the wait "
                              "would never end; release it first, or use --reentrant for both",
                              text::quoted(names[i])));
    }
  }
  return {};
}

}  // namespace holdfast::cli
