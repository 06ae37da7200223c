// SPDX-License-Identifier: Apache-2.0
#include "cli/n8n/in_n8n_store.hpp"

#include <holdfast/n8n.hpp>

namespace holdfast::cli {

Result<Client> open_n8n_store(Context& context) {
  if (auto good = context.change_store(n8n::store_url); !good) {
    return std::unexpected(std::move(good.error()));
  }
  return context.open_store();
}

}  // namespace holdfast::cli
