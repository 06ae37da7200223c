// SPDX-License-Identifier: Apache-2.0
#include "client/acquire.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/log.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::client {

namespace {

using store::Reply;
using store::Request;

struct Withdrawal {
  std::shared_ptr<Core> core;
  LockName name;
  model::Release what;
  LocalTime until{};
};

Task<Result<void>> try_withdraw(std::shared_ptr<Core> core, LockName name, model::Release what,
                                LocalTime deadline) {
  model::LockCommand command{.spec = {}, .verb = std::move(what)};
  Request ask{.name = std::move(name), .command = std::move(command), .deadline = deadline};
  auto releasing = core->store().apply(std::move(ask));
  const Result<Reply> reply = co_await std::move(releasing);
  if (!reply) co_return std::unexpected(reply.error());
  co_return Result<void>{};
}

// Until the store has heard it, or the lease has ended by itself.
Task<bool> keep_withdrawing(Withdrawal rest) {
  runtime::Event nobody(rest.core->shared_runtime());
  for (unsigned failures = 0; rest.core->runtime().now() < rest.until; ++failures) {
    const LocalTime now = rest.core->runtime().now();
    auto trying = try_withdraw(rest.core, rest.name, rest.what,
                               std::min<LocalTime>(now + command_timeout, rest.until));
    const Result<void> withdrawn = co_await std::move(trying);
    if (withdrawn) co_return true;
    const Micros delay = runtime::next_delay(after_errors, failures, rest.core->runtime().random());
    co_await nobody.wait_until(std::min<LocalTime>(now + delay, rest.until));
  }
  rest.core->unreleased.fetch_add(1, std::memory_order_relaxed);
  runtime::log_warning(fmt::format("could not give back '{}' on {}; it ended with its ttl",
                                   rest.name.str(), rest.core->store().describe()));
  co_return false;
}

}  // namespace

Task<Result<void>> withdraw(std::shared_ptr<Core> core, LockName name, model::Release what,
                            Micros ttl) {
  const LocalTime now = core->runtime().now();
  auto trying = try_withdraw(core, name, what, now + prompt_timeout);
  Result<void> withdrawn = co_await std::move(trying);
  if (withdrawn) co_return withdrawn;
  Withdrawal rest{core, std::move(name), std::move(what), now + ttl};
  core->runtime().post(
      [rest = std::move(rest)]() mutable { runtime::spawn(keep_withdrawing(std::move(rest))); });
  co_return withdrawn;
}

}  // namespace holdfast::client
