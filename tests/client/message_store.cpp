// SPDX-License-Identifier: Apache-2.0
#include "client/message_store.hpp"

#include "runtime/spawn.hpp"

#include <utility>

namespace holdfast::test {

namespace {

class EverybodyListens final : public model::World {
 public:
  using World::World;
  bool reachable(model::ProcessId) override { return true; }
};

}  // namespace

std::shared_ptr<MessageStore> MessageStore::make(std::shared_ptr<runtime::Runtime> clock) {
  std::shared_ptr<MessageStore> made(new MessageStore(std::move(clock)));
  made->mailbox_.on_unwanted([weak = std::weak_ptr(made)](const LockName& name,
                                                          const OwnerId& owner,
                                                          model::RequestId request) {
    const auto store = weak.lock();
    if (!store) return;
    ++store->given_back;
    model::LockCommand release{.spec = {}, .verb = model::Release{owner, request, true}};
    runtime::spawn(store->apply({.name = name, .command = std::move(release)}));
  });
  return made;
}

model::StoreTime MessageStore::now() const {
  return model::StoreTime(std::chrono::floor<Micros>(clock_->now().time_since_epoch()));
}

Task<Result<store::Reply>> MessageStore::apply(store::Request request) {
  const auto& command = std::get<model::LockCommand>(request.command);
  EverybodyListens world(now(), 0, fences_);
  store::Reply reply{.at = world.now(), .outcome = model::step(state, command, world)};
  messages.insert(messages.end(), world.messages.begin(), world.messages.end());
  return Task<Result<store::Reply>>(std::move(reply));
}

Result<std::unique_ptr<store::Listening>> MessageStore::listen(const LockName&, const OwnerId&,
                                                               model::RequestId request) {
  return mailbox_.listen(request, model::ProcessId{1});
}

Task<Result<LockPage>> MessageStore::list(store::ListRequest) {
  return Task<Result<LockPage>>(LockPage{});
}

}  // namespace holdfast::test
