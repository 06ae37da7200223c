// SPDX-License-Identifier: Apache-2.0
#include "recipes/fence_guard.hpp"

#include "client/pending.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

namespace holdfast {

namespace {

using Checked = Result<FenceCheck>;

static_assert(default_fence_keep == model::limits::default_guard_keep);

Checked understood(Result<store::Reply> reply) {
  if (!reply) return std::unexpected(std::move(reply.error()));
  const auto& outcome = std::get<model::GuardOutcome>(reply->outcome);
  return FenceCheck{outcome.accepted, outcome.newest};
}

Task<Checked> understood_later(Task<Result<store::Reply>> asking) {
  Result<store::Reply> reply = co_await std::move(asking);
  co_return understood(std::move(reply));
}

}  // namespace

namespace recipes {

Result<FenceQuestion> make_fence_question(std::string_view resource, Fence fence, Duration keep) {
  auto name = LockName::make(resource);
  if (!name) {
    // It speaks of a name; here it is a resource.
    auto message = std::move(name.error().message);
    if (message.starts_with("name")) message.replace(0, 4, "resource");
    return fail(Errc::bad_input, std::move(message));
  }
  if (fence > max_guarded_fence) {
    return fail(Errc::bad_input,
                fmt::format("fence: must be at most {}; got {}", max_guarded_fence, fence));
  }
  const model::GuardCommand command{.fence = fence, .keep = keep};
  if (auto good = model::admissible(command); !good)
    return std::unexpected(std::move(good.error()));
  return FenceQuestion{std::move(*name), command};
}

Task<Checked> ask_fence(const client::Core& core, FenceQuestion question, std::stop_token stop) {
  store::Request request{.name = std::move(question.resource),
                         .command = question.command,
                         .deadline = core.runtime().now() + client::command_timeout,
                         .stop = std::move(stop)};
  auto asking = core.store().apply(std::move(request));
  if (asking.is_ready()) return Task<Checked>(understood(asking.take_ready()));
  return understood_later(std::move(asking));
}

}  // namespace recipes

Checked FenceGuard::check(Fence fence) const {
  if (auto good = core_->may_block(); !good) return std::unexpected(std::move(good.error()));
  auto question = recipes::make_fence_question(resource_, fence, keep_);
  if (!question) return std::unexpected(std::move(question.error()));
  return runtime::run_blocking(recipes::ask_fence(*core_, std::move(*question), {}));
}

Task<Checked> FenceGuard::async_check(Fence fence, std::stop_token stop) const {
  if (!core_->is_ours()) return Task<Checked>(std::unexpected(core_->may_block().error()));
  auto question = recipes::make_fence_question(resource_, fence, keep_);
  if (!question) return Task<Checked>(std::unexpected(std::move(question.error())));
  return client::start_when_awaited<Checked>(
      core_->shared_runtime(),
      [core = core_, question = std::move(*question)](std::stop_token token) mutable {
        return recipes::ask_fence(*core, std::move(question), std::move(token));
      },
      std::move(stop));
}

}  // namespace holdfast
