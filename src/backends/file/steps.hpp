// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/database.hpp"
#include "backends/file/wake_file.hpp"
#include "store/store.hpp"

#include <span>
#include <vector>

namespace holdfast::backends::file {

// A step that somebody waits for, and what became of it.
struct PendingStep {
  const store::Request* request = nullptr;
  Result<store::Reply> reply = store::Reply{};
  std::vector<model::Message> messages;  // to be sent if the reply is one
};

// Runs the steps in one transaction, so that a durable store pays for one synchronisation. A step
// that fails leaves the others alone. Needs the writer lock, and commands that are admissible.
void run_steps(Database& database, const WakeFile& wake, std::span<PendingStep* const> steps,
               model::StoreTime now);

// One step, if it changes nothing; else false, and it has to be run. What changes nothing waits for
// no disk.
bool run_if_it_changes_nothing(Database& database, const WakeFile& wake, PendingStep& step,
                               model::StoreTime now);

// The database knows a number that no fence has passed, and is told a new one so far ahead, about
// every second of use; the last fence itself lies in the wake file. A reboot thus skips fences, and
// takes longer than that.
inline constexpr std::uint64_t fences_ahead = 1'000'000;

// To be called when the database was opened: a new wake file goes on where the database says. Needs
// the writer lock.
Result<void> take_over_fences(Database& database, WakeLayout& wake);

}  // namespace holdfast::backends::file
