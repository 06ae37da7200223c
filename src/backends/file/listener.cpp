// SPDX-License-Identifier: Apache-2.0
#include "backends/file/listener.hpp"

#include "backends/file/futex.hpp"
#include "backends/file/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <optional>
#include <system_error>
#include <utility>

namespace holdfast::backends::file {

namespace {

// A process that was killed between writing a message and waking us costs no more than this, which
// is how often the first in line asks by itself anyway. Shorter ones are what a sleeper costs.
constexpr std::chrono::milliseconds longest_sleep{1000};

}  // namespace

struct Listener::Ear {
  std::shared_ptr<Environment> environment;
  std::shared_ptr<store::Mailbox> mailbox;
  model::ProcessId process{};
  std::atomic<bool> stopping = false;

  WakeLayout& wake() const { return environment->wake().layout(); }

  // The mailbox wants a name and an owner to give back what nobody waits for. We do not know them,
  // and need not: whoever gives up a wait releases it, and what is left of a claim ends soon.
  void tell(const Said& said) {
    static const LockName some_name = LockName::make("?").value();
    static const OwnerId somebody = OwnerId::make("?").value();
    if (said.request == model::RequestId::any) return mailbox->hint_all();
    if (!said.grant) return mailbox->hint(said.request);
    mailbox->deliver(some_name, {process, somebody, said.request, said.grant});
  }

  void hand_out(const Slot& slot, std::uint32_t from, std::uint32_t to) {
    std::array<Said, ring_size> heard{};
    const std::uint32_t count = std::min(to - from, ring_size);
    for (std::uint32_t i = 0; i < count; ++i) heard[i] = read_ring(slot, from + i);
    // The oldest of them may have been written over, before or while we read it.
    if (is_overrun(slot, from)) return mailbox->hint_all();
    for (std::uint32_t i = 0; i < count && !stopping.load(std::memory_order_relaxed); ++i) {
      tell(heard[i]);
    }
  }

  void listen(std::uint32_t heard) {
    const Slot& slot = slot_of(wake(), process);
    while (!stopping.load(std::memory_order_acquire)) {
      const std::uint32_t tail = slot.tail.load(std::memory_order_acquire);
      if (tail == heard)
        sleep_while(slot.tail, tail, longest_sleep);
      else
        hand_out(slot, std::exchange(heard, tail), tail);
    }
  }

  void run(std::uint64_t random, std::promise<bool> ready) {
    const auto claimed = claim_slot(environment->wake(), random);
    process = claimed.value_or(model::ProcessId::none);
    const std::uint32_t tail = claimed ? slot_of(wake(), process).tail.load() : 0;
    ready.set_value(claimed.has_value());
    if (!claimed) return;
    listen(tail);
    give_back_slot(wake(), process);
  }
};

Result<std::unique_ptr<Listener>> Listener::start(std::shared_ptr<Environment> environment,
                                                  std::shared_ptr<store::Mailbox> mailbox,
                                                  std::uint64_t random) {
  auto ear = std::make_shared<Ear>();
  ear->environment = std::move(environment);
  ear->mailbox = std::move(mailbox);
  std::unique_ptr<Listener> listener(new Listener(ear));
  std::promise<bool> ready;
  auto claimed = ready.get_future();
  try {
    listener->thread_ = std::thread(
        [ear, random, ready = std::move(ready)]() mutable { ear->run(random, std::move(ready)); });
  } catch (const std::system_error& failed) {
    return ear->environment->failure(
        Errc::unavailable,
        fmt::format("no thread for waiting could be started: {}", failed.what()));
  }
  if (claimed.get()) return listener;
  return ear->environment->failure(
      Errc::limit_reached,
      fmt::format("max_waiting_processes: {} processes that wait are the limit",
                  max_waiting_processes));
}

Listener::~Listener() {
  if (!thread_.joinable()) return;
  ear_->stopping.store(true, std::memory_order_release);
  if (ear_->process != model::ProcessId::none) {
    // Counts as a message, so that a listener about to fall asleep does not miss it.
    slot_of(ear_->wake(), ear_->process).tail.fetch_add(1, std::memory_order_release);
    wake_up(ear_->wake(), ear_->process);
  }
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

model::ProcessId Listener::process() const noexcept { return ear_->process; }

}  // namespace holdfast::backends::file
