// SPDX-License-Identifier: Apache-2.0
//
// What an execution that failed left behind: the scopes that are registered for it, and every other
// lock that names it.
#include "recipes/n8n.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::n8n {

namespace {

using store::Reply;

constexpr std::string_view nothing_owned = "no locks owned by failed execution";

Result<void> check(const CleanUpRequest& request) {
  if (request.execution_id.empty() || request.execution_id.size() > max_field_bytes) {
    return fail(Errc::bad_input, fmt::format("execution_id: must have 1 to {} bytes; got {}",
                                             max_field_bytes, request.execution_id.size()));
  }
  // Its locks are those of others.
  if (request.execution_id == nobody) {
    return fail(Errc::bad_input, "execution_id: 'unknown' is no execution");
  }
  if (request.lock_scopes.size() > max_lock_scopes) {
    return fail(Errc::bad_input, fmt::format("lockScopes: must be at most {}; got {}",
                                             max_lock_scopes, request.lock_scopes.size()));
  }
  for (const auto& scope : request.lock_scopes) {
    if (auto good = check_scope(scope); !good) {
      return fail(Errc::bad_input, "lockScopes: " + good.error().message);
    }
  }
  return {};
}

// Whether something was released. Looking and releasing are one step.
Task<Result<bool>> release_owned(std::shared_ptr<Core> core, LockName name, std::string execution) {
  model::ForceRelease force{.source = std::move(execution)};
  auto asking = core->store().apply({.name = std::move(name),
                                     .command = model::LockCommand{{}, std::move(force)},
                                     .deadline = core->runtime().now() + client::command_timeout});
  const Result<Reply> reply = co_await std::move(asking);
  if (!reply) co_return std::unexpected(reply.error());
  co_return std::holds_alternative<model::Forced>(std::get<model::LockOutcome>(reply->outcome));
}

bool is_owned(const LockView& lock, std::string_view execution) {
  return std::ranges::any_of(lock.holders, [&](const HolderView& holder) {
    return holder.metadata && holder.metadata->source == execution;
  });
}

// The scopes of locks that name the execution.
Task<Result<std::vector<std::string>>> search(std::shared_ptr<Core> core, std::string execution) {
  std::vector<std::string> scopes;
  const auto prefix = name_prefix(*core);
  store::ListRequest request{.prefix = std::string(prefix), .limit = max_page};
  for (std::size_t seen = 0; seen < max_locks_searched;) {
    request.deadline = core->runtime().now() + client::release_timeout;
    auto listing = core->store().list(request);
    Result<LockPage> page = co_await std::move(listing);
    if (!page) co_return std::unexpected(std::move(page.error()));
    for (const auto& lock : page->locks) {
      if (is_owned(lock, execution)) scopes.push_back(lock.name.substr(prefix.size()));
    }
    seen += page->locks.size();
    if (page->next.empty()) break;
    request.cursor = page->next;
  }
  co_return scopes;
}

// Which of them were released, in order.
Task<Result<std::vector<std::string>>> release_all(std::shared_ptr<Core> core,
                                                   std::string execution,
                                                   std::vector<std::string> scopes, MayClean may) {
  std::ranges::sort(scopes);
  scopes.erase(std::unique(scopes.begin(), scopes.end()), scopes.end());
  std::vector<std::string> released;
  for (auto& scope : scopes) {
    auto name = lock_name(*core, scope);
    if (!name || !may(scope)) continue;
    auto releasing = release_owned(core, std::move(*name), execution);
    const Result<bool> is_released = co_await std::move(releasing);
    if (!is_released) co_return std::unexpected(is_released.error());
    if (*is_released) released.push_back(std::move(scope));
  }
  co_return released;
}

}  // namespace

Task<Result<CleanUp>> clean_up(std::shared_ptr<Core> core, CleanUpRequest request, MayClean may) {
  if (auto good = check(request); !good) co_return std::unexpected(std::move(good.error()));
  CleanUp done;
  // What is registered does not depend on whether all others can be looked through.
  auto first = release_all(core, request.execution_id, request.lock_scopes, may);
  Result<std::vector<std::string>> registered = co_await std::move(first);
  if (!registered) co_return std::unexpected(std::move(registered.error()));
  done.registered = std::move(*registered);
  auto searching = search(core, request.execution_id);
  Result<std::vector<std::string>> scopes = co_await std::move(searching);
  if (scopes) {
    auto then = release_all(core, request.execution_id, std::move(*scopes), may);
    scopes = co_await std::move(then);
  }
  if (scopes) done.found = std::move(*scopes);
  if (!scopes && scopes.error().code != Errc::unsupported) {
    co_return std::unexpected(std::move(scopes.error()));
  }
  if (done.registered.empty() && done.found.empty()) done.reason = nothing_owned;
  co_return done;
}

}  // namespace holdfast::n8n
