// SPDX-License-Identifier: Apache-2.0
#include "client_contract.hpp"

#include "client/core.hpp"

namespace holdfast::test {

std::shared_ptr<store::Store> ClientContract::open_store() {
  auto store = GetParam().open(runtime::shared_runtime(), folder.path());
  if (!store) throw std::runtime_error(store.error().message);
  return std::move(*store);
}

Client ClientContract::open_again() {
  return Client(client::make_core(open_store(), runtime::shared_runtime()));
}

std::string ClientContract::why_not(const model::LockSpec& wanted) {
  const auto can = open_store()->supports(wanted);
  return can ? std::string() : can.error().message;
}

}  // namespace holdfast::test
