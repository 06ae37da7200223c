// SPDX-License-Identifier: Apache-2.0
//
// A store whose members are stores that know nothing of each other: a lock is held if a majority of
// them grants it. The algorithm and its promises are in docs/stores/redlock.md.
#pragma once

#include "backends/quorum/options.hpp"
#include "store/store.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::backends::quorum {

struct MemberStore {
  std::shared_ptr<store::Store> store;
  std::string address;           // for messages: no secrets
  bool forgets_nothing = false;  // such as one of this process: no `grace` for it
};

// Members may be away and come later. Errors: bad_input for too few or too many of them, or if two
// are known to be the same server.
Result<std::shared_ptr<store::Store>> make_quorum_store(std::vector<MemberStore> members,
                                                        const Options& options,
                                                        std::shared_ptr<runtime::Runtime> runtime);

}  // namespace holdfast::backends::quorum
