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
  // What everybody has who did not say: the locks of others.
  if (request.execution_id == "unknown") {
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

// What a store that makes n8n's keys calls a lock, is its scope.
std::string prefix_of(const Core& core) {
  return core.store().capabilities().dialect.empty() ? lock_key("") : std::string();
}

// The scopes of locks that name the execution.
Task<Result<std::vector<std::string>>> search(std::shared_ptr<Core> core, std::string execution) {
  std::vector<std::string> scopes;
  const auto prefix = prefix_of(*core);
  store::ListRequest request{.prefix = prefix, .limit = max_page};
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

}  // namespace

Task<Result<CleanUp>> clean_up(std::shared_ptr<Core> core, CleanUpRequest request, MayClean may) {
  if (auto good = check(request); !good) co_return std::unexpected(std::move(good.error()));
  CleanUp done;
  const auto is_registered = [&](const std::string& scope) {
    return std::ranges::find(request.lock_scopes, scope) != request.lock_scopes.end();
  };
  auto searching = search(core, request.execution_id);
  Result<std::vector<std::string>> scopes = co_await std::move(searching);
  // A store that cannot list still has what is registered.
  if (!scopes && scopes.error().code != Errc::unsupported) {
    co_return std::unexpected(std::move(scopes.error()));
  }
  std::vector<std::string> all = request.lock_scopes;
  if (scopes) std::ranges::remove_copy_if(*scopes, std::back_inserter(all), is_registered);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (const auto& scope : all) {
    const auto name = lock_name(*core, scope);
    if (!name || !may(scope)) continue;
    auto releasing = release_owned(core, *name, request.execution_id);
    const Result<bool> released = co_await std::move(releasing);
    if (!released) co_return std::unexpected(released.error());
    if (*released) (is_registered(scope) ? done.registered : done.found).push_back(scope);
  }
  if (done.registered.empty() && done.found.empty()) done.reason = nothing_owned;
  co_return done;
}

}  // namespace holdfast::n8n
