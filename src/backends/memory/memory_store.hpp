// SPDX-License-Identifier: Apache-2.0
//
// `memory:` — locks between the threads of one process. docs/stores/memory.md has its promises.
#pragma once

#include "store/store.hpp"

#include <memory>

namespace holdfast::backends::memory {

// A store of its own, shared with nobody else.
std::shared_ptr<store::Store> make_memory_store(std::shared_ptr<runtime::Runtime> runtime);

// The store that every caller of this process with the same name gets, as long as one of them
// keeps it.
std::shared_ptr<store::Store> shared_memory_store(const std::string& name,
                                                  std::shared_ptr<runtime::Runtime> runtime);

}  // namespace holdfast::backends::memory
