// SPDX-License-Identifier: Apache-2.0
#include "support/fault_store.hpp"

#include "runtime/event.hpp"
#include "runtime/spawn.hpp"
#include "support/fault_ear.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test {

using store::LocalTime;
using store::Reply;
using store::Request;

struct FaultStore::Place {
  Make make;
  std::mutex mutex;
  std::shared_ptr<store::Store> store;           // guarded by mutex
  std::vector<std::weak_ptr<FaultStore>> lines;  // guarded by mutex
};

// A command on its way. The answer may come when nobody waits for it any more.
struct FaultStore::Call {
  explicit Call(std::shared_ptr<runtime::Runtime> given)
      : runtime(std::move(given)), event(runtime) {}

  void answer(Result<Reply> reply) {
    {
      const std::lock_guard lock(mutex);
      answered = std::move(reply);
    }
    event.notify();
  }
  std::optional<Result<Reply>> taken() {
    const std::lock_guard lock(mutex);
    return std::exchange(answered, std::nullopt);
  }

  const std::shared_ptr<runtime::Runtime> runtime;
  runtime::Event event;
  std::mutex mutex;
  std::optional<Result<Reply>> answered;  // guarded by mutex
};

namespace {

Verb verb_of(const Request& request) {
  const auto* lock = std::get_if<model::LockCommand>(&request.command);
  if (const auto* run = std::get_if<model::RunCommand>(&request.command)) {
    return static_cast<Verb>(std::to_underlying(Verb::run_begin) + std::to_underlying(run->verb) -
                             1);
  }
  if (std::holds_alternative<model::RateCommand>(request.command)) return Verb::count_hit;
  return lock ? static_cast<Verb>(lock->verb.index()) : Verb::check_fence;
}

// The owner is never in a message: it is a secret.
Error unknown(const Request& request) {
  return {Errc::outcome_unknown, "no answer about '" + request.name.str() + "'"};
}

class Listening final : public store::Listening {
 public:
  explicit Listening(std::shared_ptr<FaultEar> ear) : ear_(std::move(ear)) {}
  model::ProcessId process() const override { return ear_->process(); }
  Task<store::Notice> next(LocalTime deadline) override { return ear_->next(deadline); }
  void poke() override { ear_->poke(); }

 private:
  std::shared_ptr<FaultEar> ear_;
};

// Wakes a call from the runtime's thread when the caller gives up.
template <typename Call>
auto wake_when(std::stop_token stop, std::shared_ptr<Call> call) {
  auto wake = [call] { call->runtime->post([call] { call->event.notify(); }); };
  return std::make_unique<std::stop_callback<decltype(wake)>>(std::move(stop), std::move(wake));
}

// Until there is an answer, the deadline has come, or the caller gave up.
template <typename Call>
Task<std::optional<Result<Reply>>> wait_for(std::shared_ptr<Call> call, LocalTime deadline,
                                            std::stop_token stop) {
  const auto on_stop = wake_when(stop, call);
  while (true) {
    if (auto answer = call->taken()) co_return std::move(answer);
    if (stop.stop_requested()) co_return std::nullopt;
    const bool notified = co_await call->event.wait_until(deadline);
    if (!notified) co_return call->taken();
  }
}

}  // namespace

std::shared_ptr<FaultStore> FaultStore::over(std::shared_ptr<runtime::Runtime> runtime, Make make) {
  auto place = std::make_shared<Place>();
  place->make = std::move(make);
  place->store = place->make();
  std::shared_ptr<FaultStore> line(new FaultStore(std::move(runtime), place));
  place->lines.push_back(line);
  return line;
}

std::shared_ptr<FaultStore> FaultStore::another_line() const {
  std::shared_ptr<FaultStore> line(new FaultStore(runtime_, place_));
  const std::lock_guard lock(place_->mutex);
  place_->lines.push_back(line);
  return line;
}

void FaultStore::script(Verb verb, Fault fault, unsigned count, unsigned after) {
  const std::lock_guard lock(mutex_);
  scripts_[verb].push_back({fault, after, count});
}

void FaultStore::decide_by(std::function<Fault(Verb)> decide) {
  const std::lock_guard lock(mutex_);
  decide_ = std::move(decide);
}

void FaultStore::pause() {
  const std::lock_guard lock(mutex_);
  paused_ = true;
}

void FaultStore::resume() {
  std::vector<std::weak_ptr<Call>> sleepers;
  {
    const std::lock_guard lock(mutex_);
    paused_ = false;
    sleepers = std::exchange(sleepers_, {});
  }
  for (const auto& weak : sleepers) {
    if (const auto call = weak.lock()) call->event.notify();
  }
  for (const auto& ear : ears()) ear->resume();
}

void FaultStore::empty() {
  std::shared_ptr<store::Store> before;
  std::vector<std::weak_ptr<FaultStore>> lines;
  {
    const std::lock_guard lock(place_->mutex);
    before = std::exchange(place_->store, place_->make());
    lines = place_->lines;
  }
  const auto now_there = inner();
  for (const auto& weak : lines) {
    const auto line = weak.lock();
    if (!line) continue;
    for (const auto& ear : line->ears()) ear->listen_anew(*now_there);
  }
}

void FaultStore::set_queues(bool queues) {
  const std::lock_guard lock(mutex_);
  queues_ = queues;
}

void FaultStore::set_may_change(bool may_change) {
  const std::lock_guard lock(mutex_);
  may_change_ = may_change;
}

void FaultStore::lose_notices(unsigned count) {
  const std::lock_guard lock(mutex_);
  notices_to_lose_ = count;
}

void FaultStore::delay_notices(Micros delay) {
  const std::lock_guard lock(mutex_);
  notice_delay_ = delay;
}

unsigned FaultStore::count(Verb verb) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(verb);
  return found == counts_.end() ? 0 : found->second;
}

std::vector<Sent> FaultStore::history() const {
  const std::lock_guard lock(mutex_);
  return {history_.begin(), history_.end()};
}

std::vector<Sent> FaultStore::history(Verb verb) const {
  auto all = history();
  std::erase_if(all, [verb](const Sent& sent) { return sent.verb != verb; });
  return all;
}

void FaultStore::send_again(const Sent& sent) {
  Request copy = sent.request;
  copy.stop = {};
  runtime::spawn(inner()->apply(std::move(copy)));
}

std::shared_ptr<store::Store> FaultStore::inner() const {
  const std::lock_guard lock(place_->mutex);
  return place_->store;
}

std::size_t FaultStore::remember(Verb verb, const Request& request) {
  const std::lock_guard lock(mutex_);
  ++counts_[verb];
  history_.push_back({verb, request, runtime_->now(), std::nullopt});
  return history_.size() - 1;
}

Fault FaultStore::next_fault(Verb verb) {
  const std::lock_guard lock(mutex_);
  auto& scripts = scripts_[verb];
  while (!scripts.empty() && scripts.front().count == 0) scripts.pop_front();
  if (scripts.empty()) return decide_ ? decide_(verb) : Fault::none();
  if (scripts.front().after > 0) {
    --scripts.front().after;
    return Fault::none();
  }
  --scripts.front().count;
  return scripts.front().fault;
}

std::optional<Micros> FaultStore::fate_of_notice() {
  const std::lock_guard lock(mutex_);
  if (notices_to_lose_ == 0) return notice_delay_;
  --notices_to_lose_;
  return std::nullopt;
}

bool FaultStore::paused() const {
  const std::lock_guard lock(mutex_);
  return paused_;
}

std::vector<std::shared_ptr<FaultEar>> FaultStore::ears() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<FaultEar>> alive;
  for (const auto& weak : ears_) {
    if (auto ear = weak.lock()) alive.push_back(std::move(ear));
  }
  return alive;
}

Task<Result<Reply>> FaultStore::apply(Request request) {
  const Verb verb = verb_of(request);
  const std::size_t entry = remember(verb, request);
  return carry(std::move(request), next_fault(verb), entry);
}

Task<Result<Reply>> FaultStore::carry(Request request, Fault fault, std::size_t entry) {
  const auto self = shared_from_this();
  auto waiting = wait_while_paused(request.deadline, request.stop);
  const std::optional<Error> stuck = co_await std::move(waiting);
  Result<Reply> told = fail(Errc::unavailable, "");
  if (stuck) {
    told = std::unexpected(*stuck);
  } else {
    auto delivering = deliver(std::move(request), fault);
    told = co_await std::move(delivering);
  }
  const std::lock_guard lock(mutex_);
  history_[entry].told = told;
  co_return std::move(told);
}

Task<std::optional<Error>> FaultStore::wait_while_paused(LocalTime deadline, std::stop_token stop) {
  while (!stop.stop_requested()) {
    const auto call = std::make_shared<Call>(runtime_);
    {
      const std::lock_guard lock(mutex_);
      if (!paused_) co_return std::nullopt;
      sleepers_.push_back(call);
    }
    const auto on_stop = wake_when(stop, call);
    if (!co_await call->event.wait_until(deadline)) {
      co_return Error{Errc::unavailable, "the store is paused"};
    }
  }
  co_return Error{Errc::cancelled, "given up before it was sent"};
}

Task<Result<Reply>> FaultStore::deliver(Request request, Fault fault) {
  const auto self = shared_from_this();
  if (fault.kind == Fault::Kind::refuse) co_return fail(Errc::unavailable, "refused by a script");
  if (fault.kind == Fault::Kind::none) {
    auto applying = inner()->apply(std::move(request));
    co_return co_await std::move(applying);
  }
  const auto call = std::make_shared<Call>(runtime_);
  const bool is_late = fault.kind == Fault::Kind::delay_request;
  const bool is_answered = is_late || fault.kind == Fault::Kind::delay_reply;
  const auto send = [self, call, is_late, is_answered, delay = fault.delay](Request&& to_send) {
    to_send.stop = {};  // what is on its way cannot be called back
    runtime::spawn(self->inner()->apply(std::move(to_send)), [=](Result<Reply>&& reply) {
      if (!is_answered) return;
      if (is_late) return call->answer(std::move(reply));
      self->runtime_->schedule(self->runtime_->now() + delay,
                               [call, reply]() mutable { call->answer(std::move(reply)); });
    });
  };
  if (is_late) {
    runtime_->schedule(runtime_->now() + fault.delay,
                       [send, copy = request]() mutable { send(std::move(copy)); });
  } else if (fault.kind != Fault::Kind::lose_request) {
    send(Request(request));
  }
  auto waiting = wait_for(call, request.deadline, request.stop);
  auto answer = co_await std::move(waiting);
  if (answer) co_return std::move(*answer);
  co_return std::unexpected(unknown(request));
}

Result<std::unique_ptr<store::Listening>> FaultStore::listen(const LockName& name,
                                                             const OwnerId& owner,
                                                             model::RequestId request) {
  auto heard = inner()->listen(name, owner, request);
  if (!heard) return std::unexpected(std::move(heard.error()));
  auto ear = std::make_shared<FaultEar>(shared_from_this(), name, owner, request,
                                        std::shared_ptr<store::Listening>(std::move(*heard)));
  const std::lock_guard lock(mutex_);
  std::erase_if(ears_, [](const auto& weak) { return weak.expired(); });
  ears_.push_back(ear);
  return std::make_unique<Listening>(std::move(ear));
}

Task<Result<LockPage>> FaultStore::list(store::ListRequest request) {
  const auto self = shared_from_this();
  auto waiting = wait_while_paused(request.deadline, {});
  const std::optional<Error> stuck = co_await std::move(waiting);
  if (stuck) co_return std::unexpected(*stuck);
  auto listing = inner()->list(std::move(request));
  co_return co_await std::move(listing);
}

Result<void> FaultStore::supports(const model::LockSpec& spec) const {
  if (!capabilities().queues && spec.order == Order::fifo) {
    return fail(Errc::unsupported, "this store keeps no queue, so it cannot be fifo");
  }
  return inner()->supports(spec);
}

store::Capabilities FaultStore::capabilities() const {
  auto whole = inner()->capabilities();
  const std::lock_guard lock(mutex_);
  whole.queues = whole.queues && queues_;
  whole.immediate = false;  // an answer may be late
  whole.may_change = whole.may_change || may_change_;
  return whole;
}

}  // namespace holdfast::test
