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

}  // namespace

std::vector<std::string> variables_for(std::span<const Lease> leases) {
  return {joined("HOLDFAST_NAME", leases, [](const Lease& lease) { return lease.name().str(); }),
          joined("HOLDFAST_FENCE", leases,
                 [](const Lease& lease) { return std::to_string(lease.fence()); }),
          joined("HOLDFAST_OWNER", leases, [](const Lease& lease) { return lease.owner().str(); })};
}

Result<void> refuse_to_wait_for_ourselves(const Client& client, const Wanted& wanted) {
  // An owner re-enters its own lock, and other permits of a semaphore may come free.
  if (wanted.choice.reentrant || wanted.choice.permits) return {};
  const auto names = lines_of("HOLDFAST_NAME");
  const auto fences = lines_of("HOLDFAST_FENCE");
  for (std::size_t i = 0; i < std::min(names.size(), fences.size()); ++i) {
    if (std::ranges::find(wanted.names, names[i]) == wanted.names.end()) continue;
    const auto lock = client.inspect(names[i]);
    if (!lock) continue;
    const bool shares = wanted.choice.shared && lock->waiters.empty();
    for (const auto& holder : lock->holders) {
      if (std::to_string(holder.fence) != fences[i]) continue;
      if (shares && holder.permits != all_permits) continue;
      return fail(Errc::deadlock,
                  fmt::format("{} is held by the command that this one is part of, so the wait "
                              "would never end; use --reentrant for both",
                              text::quoted(names[i])));
    }
  }
  return {};
}

}  // namespace holdfast::cli
