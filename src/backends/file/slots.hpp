// SPDX-License-Identifier: Apache-2.0
//
// How processes find and tell each other. A process id is a random number with the index of its
// slot in the low bits, so that a slot's next user is never taken for the one before.
#pragma once

#include "backends/file/wake_layout.hpp"
#include "model/command.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace holdfast::backends::file {

// Takes a slot for the calling thread, which must give it back before it ends. Waits for nobody.
// Nothing if all are taken.
std::optional<model::ProcessId> claim_slot(WakeLayout& wake, std::uint64_t random, pid_t pid);
void give_back_slot(WakeLayout& wake, model::ProcessId process);
Slot& slot_of(WakeLayout& wake, model::ProcessId process);

// Whether the process lives and listens. A slot whose process died becomes free by the question.
bool is_listening(WakeLayout& wake, model::ProcessId process);

// What one process can tell another. RequestId::any asks all of its waiters to look again.
struct Said {
  model::RequestId request{};
  std::optional<model::Grant> grant{};
};

// Writes into the ring of the process. Needs the writer lock.
void send(WakeLayout& wake, model::ProcessId process, const Said& said);
void send_to_everybody(WakeLayout& wake);

// Reads what was said as number `number`. What is read is worth nothing if the ring has overrun it
// meanwhile.
Said read_ring(const Slot& slot, std::uint32_t number);
bool is_overrun(const Slot& slot, std::uint32_t number);

// Ends the sleep of the process, if it sleeps. Better without the writer lock: it is what the
// awakened wants next.
void wake_up(WakeLayout& wake, model::ProcessId process);
void wake_everybody(WakeLayout& wake);

// Sleeps while `tail` has this value, but not for ever.
void sleep_while(const std::atomic<std::uint32_t>& tail, std::uint32_t value,
                 std::chrono::milliseconds at_most);

}  // namespace holdfast::backends::file
