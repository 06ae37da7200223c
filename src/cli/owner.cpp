// SPDX-License-Identifier: Apache-2.0
#include "cli/owner.hpp"

#include "cli/process/held_above.hpp"

namespace holdfast::cli {

Result<std::string> owner_in_force(const std::string& given, const std::string& name) {
  if (!given.empty()) return given;
  if (auto above = owner_above(name); !above.empty()) return above;
  return fail(
      Errc::bad_input,
      "whose lock? give --owner TOKEN, or set HOLDFAST_OWNER: it is what 'holdfast acquire' "
      "printed");
}

Result<Lease> adopt(const Client& client, const std::string& name, const std::string& given_owner,
                    Fence fence) {
  const auto owner = owner_in_force(given_owner, name);
  if (!owner) return std::unexpected(owner.error());
  return client.adopt(name, *owner, fence);
}

}  // namespace holdfast::cli
