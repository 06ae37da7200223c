// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/core.hpp"

namespace holdfast::server {

// One command on one lock, within the usual time. Errors as Store::apply.
template <typename Verb>
Task<Result<store::Reply>> ask(client::Core& core, LockName name, Verb verb) {
  return core.store().apply({.name = std::move(name),
                             .command = model::LockCommand{{}, std::move(verb)},
                             .deadline = core.runtime().now() + client::command_timeout});
}

}  // namespace holdfast::server
