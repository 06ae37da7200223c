// SPDX-License-Identifier: Apache-2.0
#include "server/runs/run_access.hpp"

namespace holdfast::server {

Verb needed_verb(model::RunCommand::Verb verb, std::string_view key) {
  using RunVerb = model::RunCommand::Verb;
  if (verb == RunVerb::forget || key.starts_with(own_run_prefix)) return Verb::admin;
  return verb == RunVerb::look ? Verb::read : Verb::lock;
}

}  // namespace holdfast::server
