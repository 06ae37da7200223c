// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/store.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace holdfast::test {

// A store that the contract holds for. Two opens with the same folder must meet in one store.
struct StoreUnderTest {
  using Open = std::function<Result<std::shared_ptr<store::Store>>(
      std::shared_ptr<runtime::Runtime>, const std::filesystem::path& folder)>;

  std::string name;
  Open open;

  friend void PrintTo(const StoreUnderTest& store, std::ostream* out) { *out << store.name; }
};

std::vector<StoreUnderTest> stores_under_test();

}  // namespace holdfast::test
