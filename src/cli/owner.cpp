// SPDX-License-Identifier: Apache-2.0
#include "cli/owner.hpp"

#include <cstdlib>

namespace holdfast::cli {

Result<std::string> owner_in_force(const std::string& given) {
  if (!given.empty()) return given;
  const char* from_environment = std::getenv("HOLDFAST_OWNER");
  if (from_environment != nullptr && *from_environment != '\0') return from_environment;
  return fail(
      Errc::bad_input,
      "whose lock? give --owner TOKEN, or set HOLDFAST_OWNER: it is what 'holdfast acquire' "
      "printed");
}

Result<Lease> adopt(const Client& client, const std::string& name, const std::string& given_owner) {
  const auto owner = owner_in_force(given_owner);
  if (!owner) return std::unexpected(owner.error());
  return client.adopt(name, *owner);
}

}  // namespace holdfast::cli
