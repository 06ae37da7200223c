// SPDX-License-Identifier: Apache-2.0
#include "client_contract.hpp"

#include "client/core.hpp"

namespace holdfast::test {

Client ClientContract::open_again() {
  const auto runtime = runtime::shared_runtime();
  auto store = GetParam().open(runtime, folder.path());
  if (!store) throw std::runtime_error(store.error().message);
  return Client(client::make_core(std::move(*store), runtime));
}

bool ClientContract::becomes_true(const std::function<bool()>& condition) {
  const auto give_up_at = now() + 5s;
  while (!condition()) {
    if (now() > give_up_at) return false;
    let_pass(2ms);
  }
  return true;
}

}  // namespace holdfast::test
