// SPDX-License-Identifier: Apache-2.0
#include "store/mailbox.hpp"

#include "runtime/event.hpp"
#include "runtime/fork.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::store {

namespace {

// Of hints that are told in turn.
constexpr std::size_t told_at_once = 8;
constexpr std::chrono::microseconds time_for_one = std::chrono::milliseconds(5);
constexpr std::chrono::microseconds time_for_all = std::chrono::milliseconds(500);

// Whose grant it is.
struct Grantee {
  LockName name;
  OwnerId owner;
};

// What one waiter has been told and not yet read.
class Ear {
 public:
  explicit Ear(std::shared_ptr<runtime::Runtime> runtime) : event_(std::move(runtime)) {}

  // False if nobody listens any more.
  bool grant(const LockName& name, const model::Message& message) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      unread_.emplace(name, message.owner);
      pending_ = Notice{Notice::Reason::granted, *message.grant, has_changed()};
    }
    event_.notify();
    return true;
  }

  void tell(Notice notice) {
    {
      const std::lock_guard lock(mutex_);
      // A hint behind a grant adds nothing; a grant replaces whatever was there.
      const bool outranked = pending_ && pending_->reason == Notice::Reason::granted &&
                             notice.reason == Notice::Reason::hint;
      if (notice.reason == Notice::Reason::poked)
        poked_ = true;
      else if (!outranked)
        pending_ = Notice{notice.reason, notice.grant, notice.store_changed || has_changed()};
      else
        pending_->store_changed |= notice.store_changed;
    }
    event_.notify();
  }

  std::optional<Notice> take() {
    const std::lock_guard lock(mutex_);
    if (pending_) {
      unread_.reset();
      return std::exchange(pending_, std::nullopt);
    }
    if (std::exchange(poked_, false)) return Notice{Notice::Reason::poked, {}};
    return std::nullopt;
  }

  // The grant that nobody will read, if there is one.
  std::optional<Grantee> close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    return std::exchange(unread_, std::nullopt);
  }

  runtime::Event& event() { return event_; }

 private:
  // What was said of the store, and has not been read.
  bool has_changed() const { return pending_ && pending_->store_changed; }

  runtime::Event event_;
  std::mutex mutex_;
  std::optional<Notice> pending_;
  std::optional<Grantee> unread_;
  bool closed_ = false;
  bool poked_ = false;
};

}  // namespace

struct Mailbox::Shared {
  std::shared_ptr<runtime::Runtime> runtime;
  const std::uint32_t generation = runtime::fork_generation();
  Unwanted unwanted;
  std::mutex mutex;
  std::unordered_map<model::RequestId, std::shared_ptr<Ear>> ears;  // guarded by mutex

  std::shared_ptr<Ear> find(model::RequestId request) {
    const std::lock_guard lock(mutex);
    const auto found = ears.find(request);
    return found == ears.end() ? nullptr : found->second;
  }
  // Not from here: the release may hand over to the next unwanted one, and so on, ever deeper.
  static void give_back(const std::shared_ptr<Shared>& shared, Grantee to,
                        model::RequestId request) {
    shared->runtime->post([weak = std::weak_ptr(shared), to = std::move(to), request] {
      if (const auto still_there = weak.lock()) still_there->unwanted(to.name, to.owner, request);
    });
  }
};

namespace {

Task<Notice> wait_for_notice(std::shared_ptr<Ear> ear, LocalTime deadline) {
  while (true) {
    if (auto notice = ear->take()) co_return *notice;
    const bool notified = co_await ear->event().wait_until(deadline);
    if (!notified) co_return ear->take().value_or(Notice{Notice::Reason::deadline, {}});
  }
}

template <typename Shared>
class MailboxListening final : public Listening {
 public:
  MailboxListening(std::shared_ptr<Shared> shared, model::RequestId request,
                   model::ProcessId process)
      : shared_(std::move(shared)),
        request_(request),
        process_(process),
        ear_(std::make_shared<Ear>(shared_->runtime)) {
    const std::lock_guard lock(shared_->mutex);
    shared_->ears.insert_or_assign(request_, ear_);
  }

  ~MailboxListening() override {
    // In a forked child the mutex may be locked for ever, by a thread that is not there.
    if (shared_->generation != runtime::fork_generation()) return;
    {
      const std::lock_guard lock(shared_->mutex);
      const auto found = shared_->ears.find(request_);
      if (found != shared_->ears.end() && found->second == ear_) shared_->ears.erase(found);
    }
    // A grant that came while its waiter was giving up would block the lock until it lapses.
    if (auto to = ear_->close()) Shared::give_back(shared_, std::move(*to), request_);
  }

  model::ProcessId process() const override { return process_; }

  Task<Notice> next(LocalTime deadline) override {
    if (auto notice = ear_->take()) return Task<Notice>(*notice);
    return wait_for_notice(ear_, deadline);
  }

  void poke() override { ear_->tell({Notice::Reason::poked, {}}); }

 private:
  std::shared_ptr<Shared> shared_;
  model::RequestId request_;
  model::ProcessId process_;
  std::shared_ptr<Ear> ear_;
};

}  // namespace

Mailbox::Mailbox(std::shared_ptr<runtime::Runtime> runtime) : shared_(std::make_shared<Shared>()) {
  shared_->runtime = std::move(runtime);
}

Mailbox::~Mailbox() = default;

void Mailbox::on_unwanted(Unwanted unwanted) { shared_->unwanted = std::move(unwanted); }

std::unique_ptr<Listening> Mailbox::listen(model::RequestId request, model::ProcessId process) {
  return std::make_unique<MailboxListening<Shared>>(shared_, request, process);
}

bool Mailbox::hears(model::RequestId request) const { return shared_->find(request) != nullptr; }

void Mailbox::deliver(const LockName& name, const model::Message& message) {
  const auto ear = shared_->find(message.request);
  if (ear && message.grant && ear->grant(name, message)) return;
  if (ear && !message.grant) return ear->tell({Notice::Reason::hint, {}});
  // A waiter that is here no more, but still in the queue, would keep others waiting for ever.
  Shared::give_back(shared_, {name, message.owner}, message.request);
}

void Mailbox::hint(model::RequestId request) {
  if (const auto ear = shared_->find(request)) ear->tell({Notice::Reason::hint, {}});
}

void Mailbox::hint_all(bool store_changed) {
  std::vector<std::shared_ptr<Ear>> everybody;
  {
    const std::lock_guard lock(shared_->mutex);
    for (const auto& [request, ear] : shared_->ears) everybody.push_back(ear);
  }
  for (const auto& ear : everybody) ear->tell({Notice::Reason::hint, {}, store_changed});
}

void Mailbox::hint_all_in_turn() {
  std::vector<model::RequestId> everybody;
  {
    const std::lock_guard lock(shared_->mutex);
    for (const auto& [request, ear] : shared_->ears) everybody.push_back(request);
  }
  const auto step = std::min<std::chrono::microseconds>(
      time_for_one, time_for_all / std::max<std::size_t>(1, everybody.size()));
  const auto began = shared_->runtime->now();
  for (std::size_t turn = 0; turn < everybody.size(); ++turn) {
    if (turn < told_at_once) {
      hint(everybody[turn]);
      continue;
    }
    shared_->runtime->schedule(began + turn * step,
                               [weak = std::weak_ptr(shared_), request = everybody[turn]] {
                                 const auto shared = weak.lock();
                                 const auto ear = shared ? shared->find(request) : nullptr;
                                 if (ear) ear->tell({Notice::Reason::hint, {}});
                               });
  }
}

}  // namespace holdfast::store
