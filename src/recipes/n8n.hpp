// SPDX-License-Identifier: Apache-2.0
//
// What holdfast/n8n.hpp does, as coroutines, and in the parts that the server needs one by one.
#pragma once

#include <holdfast/n8n.hpp>

#include "client/take.hpp"

#include <functional>
#include <memory>

namespace holdfast::n8n {

using client::Core;

// What everybody is called who did not say.
inline constexpr std::string_view nobody = "unknown";

// Errors: bad_input, naming the scope and the rule.
Result<void> check_scope(std::string_view scope);
// What stands before the scope in the name that the store has for its lock: nothing where the store
// itself makes n8n's keys.
std::string_view name_prefix(const Core& core);
// Errors: bad_input, naming the scope.
Result<LockName> lock_name(const Core& core, std::string_view scope);
std::string lock_key(std::string_view scope);

// The request with its defaults filled in. Errors: bad_input, naming the field.
Result<LockRequest> completed(Core& core, LockRequest request);
// What is asked of the store for a completed request.
Result<client::Wanted> wanted(Core& core, const LockRequest& completed);
// What is answered once it was granted.
Task<Result<Lock>> describe(std::shared_ptr<Core> core, LockRequest completed, LockName name);
// In n8n's words, where it has some.
Error explain(const LockRequest& completed, const client::NotTaken& why);

Task<Result<Release>> release(std::shared_ptr<Core> core, std::string scope,
                              std::optional<std::string> lock_id, std::optional<Fence> fence);

Result<model::RateCommand> rate_command(const RateRequest& request);
Task<Result<RateOutcome>> check_rate(std::shared_ptr<Core> core, RateRequest request);

// Which scopes may be touched.
using MayClean = std::function<bool(std::string_view scope)>;
Task<Result<CleanUp>> clean_up(std::shared_ptr<Core> core, CleanUpRequest request, MayClean may);

}  // namespace holdfast::n8n
