// SPDX-License-Identifier: Apache-2.0
//
// A store that behaves towards a client as one that votes: it takes back by itself what it does not
// grant, says how often to try, and may find no quorum.
#pragma once

#include "backends/memory/memory_store.hpp"
#include "store/store.hpp"

#include <memory>
#include <utility>

namespace holdfast::test {

class VotingStore final : public store::Store {
 public:
  VotingStore(std::shared_ptr<runtime::Runtime> runtime, store::Retry retry)
      : inner_(backends::memory::make_memory_store(std::move(runtime))), retry_(retry) {}

  // The next so many attempts find no quorum.
  void lose_quorum(unsigned attempts) { without_quorum_ = attempts; }

  Task<Result<store::Reply>> apply(store::Request request) override {
    auto* lock = std::get_if<model::LockCommand>(&request.command);
    auto* wanted = lock ? std::get_if<model::Acquire>(&lock->verb) : nullptr;
    if (!wanted) return inner_->apply(std::move(request));
    if (without_quorum_ > 0) {
      --without_quorum_;
      return Task<Result<store::Reply>>(fail(Errc::quorum_not_reached, "1 of 3 members"));
    }
    const bool waits = std::exchange(wanted->wait, false);
    auto asked = inner_->apply(std::move(request));
    return waits ? in_line(std::move(asked)) : std::move(asked);
  }
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) override {
    return inner_->listen(name, owner, request);
  }
  Task<Result<LockPage>> list(store::ListRequest request) override {
    return inner_->list(std::move(request));
  }
  Result<void> supports(const model::LockSpec& spec) const override {
    return inner_->supports(spec);
  }
  store::Capabilities capabilities() const override {
    return {.queues = true, .spends_requests = true, .retry = retry_};
  }
  std::string describe() const override { return "voting:"; }

 private:
  static Task<Result<store::Reply>> in_line(Task<Result<store::Reply>> asked) {
    auto reply = co_await std::move(asked);
    auto* outcome = reply ? std::get_if<model::LockOutcome>(&reply->outcome) : nullptr;
    if (outcome && std::holds_alternative<model::Busy>(*outcome)) {
      *outcome = model::Queued{.place = 7, .ahead = 0, .retry_after = Micros(50'000)};
    }
    co_return reply;
  }

  const std::shared_ptr<store::Store> inner_;
  const store::Retry retry_;
  unsigned without_quorum_ = 0;
};

}  // namespace holdfast::test
