// SPDX-License-Identifier: Apache-2.0
#include "backends/file/reboot.hpp"

#include "backends/file/record.hpp"
#include "model/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::backends::file {

namespace {

struct Reboot {
  model::StoreTime last_step;
  model::StoreTime now;
};

void live_again(model::LockState& state, model::StoreTime last_step, model::StoreTime now) {
  state.queue.clear();
  state.queue_expires = {};
  state.offer = {};
  const auto ended = [&](const model::Hold& hold) { return hold.expires <= last_step; };
  state.holds.erase(std::remove_if(state.holds.begin(), state.holds.end(), ended),
                    state.holds.end());
  for (model::Hold& hold : state.holds) {
    hold.expires = now + hold.ttl;
    hold.since = now;
    // A claim may have been acted upon before it was confirmed: when in doubt it is a lease.
    hold.claimed = false;
    hold.process = model::ProcessId::none;
  }
}

// What was left of its time is left again, at least.
void live_again(model::GuardState& state, model::StoreTime last_step, model::StoreTime now) {
  state.expires = now + std::max(Micros::zero(), state.expires - last_step);
}

// Its own time goes on where the last step left it: nobody knows how much more has passed. Where
// the new clock is ahead of that already, so much time has passed at least since the machine
// started.
void live_again(model::RateState& state, model::StoreTime last_step, model::StoreTime now) {
  state.expires = now + std::max(Micros::zero(), state.expires - last_step);
  state.ahead = std::max(Micros::zero(), last_step + state.ahead - now);
}

// No run survived, but what it has set going elsewhere may have: it keeps its guard once more.
void live_again(model::RunState& state, model::StoreTime last_step, model::StoreTime now) {
  const bool was_guarded = state.guarded_until > last_step;
  const bool is_running = state.status == model::RunState::Status::running;
  // Of a run the record outlives the guard as before, else what was left of its time is left again.
  const auto kept_from = is_running && was_guarded ? state.guarded_until : last_step;
  state.guarded_until = was_guarded ? now + state.guard : now;
  state.expires = (is_running ? state.guarded_until : now) +
                  std::max(Micros::zero(), state.expires - kept_from);
}

int write_back(Cursor& cursor, std::string_view name, const auto& state) {
  std::string value;
  model::encode(state, value);
  make_value(name, value);
  return cursor.put(value);
}

// What cannot be read is kept, and refused to whoever asks for it.
template <typename State>
int recover(Cursor& cursor, std::string_view name, Result<State> state, const Reboot& reboot) {
  if (!state) return 0;
  live_again(*state, reboot.last_step, reboot.now);
  if (model::forgettable(*state, reboot.now)) return cursor.del();
  return write_back(cursor, name, *state);
}

int recover_record(Cursor& cursor, const Reboot& reboot) {
  const auto record = parse_record(cursor.key(), cursor.value());
  if (!record) return 0;
  const auto [name, state] = *record;
  switch (machine_of_key(cursor.key())) {
    case model::Machine::lock: return recover(cursor, name, model::decode(state), reboot);
    case model::Machine::fence_guard:
      return recover(cursor, name, model::decode_guard(state), reboot);
    case model::Machine::rate_limit:
      return recover(cursor, name, model::decode_rate(state), reboot);
    case model::Machine::idempotency:
      return recover(cursor, name, model::decode_run(state), reboot);
  }
  return 0;
}

Result<int> attempt(Database& database, const BootId& boot_id, model::StoreTime now) {
  auto txn = database.begin();
  if (!txn) return std::unexpected(std::move(txn.error()));
  auto meta = read_meta(*txn);
  if (!meta) return std::unexpected(std::move(meta.error()));
  if (meta->boot_id == boot_id) return 0;
  {
    Cursor cursor(*txn);
    int failed = cursor.seek(first_record_key);
    for (; failed == 0; failed = cursor.next()) {
      if (const int broken = recover_record(cursor, {meta->last_step, now})) return broken;
    }
    if (failed != MDB_NOTFOUND) return failed;
  }
  meta->boot_id = boot_id;
  meta->last_step = now;
  if (const int failed = write_meta(*txn, *meta)) return failed;
  return txn->commit();
}

}  // namespace

Result<void> recover_from_reboot(Database& database, const BootId& boot_id, model::StoreTime now) {
  while (true) {
    const auto done = attempt(database, boot_id, now);
    if (!done) return std::unexpected(done.error());
    if (*done == 0) return {};
    if (*done != MDB_MAP_FULL) {
      return fail(
          Errc::unavailable,
          fmt::format("the store cannot be taken over after a reboot: {}", mdb_strerror(*done)));
    }
    if (auto grown = database.grow(); !grown) return grown;
  }
}

}  // namespace holdfast::backends::file
