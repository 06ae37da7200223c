// SPDX-License-Identifier: Apache-2.0
//
// How processes find and tell each other. A process id has the number of the process in the high
// bits (lock_word.hpp), by which the others know whether it lives, the index of its slot in the low
// bits, and random ones between, so that a slot's next user is never taken for the one before.
#pragma once

#include "backends/file/wake_file.hpp"
#include "model/command.hpp"

#include <cstdint>
#include <optional>

namespace holdfast::backends::file {

// Takes a slot, which must be given back unless the process dies before. Waits for nobody. Nothing
// if all are taken.
std::optional<model::ProcessId> claim_slot(const WakeFile& wake, std::uint64_t random);
void give_back_slot(WakeLayout& wake, model::ProcessId process);
Slot& slot_of(WakeLayout& wake, model::ProcessId process);

// Whether the process lives and listens. A slot whose process died becomes free by the question.
bool is_listening(const WakeFile& wake, model::ProcessId process);
// What a dead process left that had this index.
void free_slots_of(WakeLayout& wake, std::uint32_t process_index);

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

}  // namespace holdfast::backends::file
