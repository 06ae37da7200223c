// SPDX-License-Identifier: Apache-2.0
#include "backends/file/sweep.hpp"

#include "backends/file/meta_record.hpp"
#include "backends/file/record.hpp"
#include "model/machine.hpp"

#include <string>

namespace holdfast::backends::file {

namespace {

// What cannot be read is left for whoever asks for it, and gets told.
bool is_left_behind(const Cursor& at, model::StoreTime now) {
  const auto record = parse_record(at.key(), at.value());
  if (!record) return false;
  const auto ended = [now](const auto& state) {
    return state.has_value() && model::forgettable(*state, now);
  };
  switch (machine_of_key(at.key())) {
    case model::Machine::lock: return ended(model::decode(record->state));
    case model::Machine::fence_guard: return ended(model::decode_guard(record->state));
    case model::Machine::rate_limit: return ended(model::decode_rate(record->state));
    case model::Machine::idempotency: return ended(model::decode_run(record->state));
  }
  return false;
}

// Removes what is left behind among the next few records. `from` becomes where to go on, or empty
// at the end of the store.
int sweep_from(Txn& txn, model::StoreTime now, std::string& from) {
  Cursor cursor(txn);
  int failed = cursor.seek(from.empty() ? first_record_key : std::string_view(from));
  for (std::size_t seen = 0; failed == 0 && seen < records_per_sweep; ++seen) {
    if (is_left_behind(cursor, now)) failed = cursor.del();
    if (failed == 0) failed = cursor.next();
  }
  from = failed == 0 ? std::string(cursor.key()) : std::string();
  return failed == MDB_NOTFOUND ? 0 : failed;
}

}  // namespace

int sweep_now_and_then(Txn& txn, model::StoreTime now) {
  return txn.number() % commits_between_sweeps == 0 ? sweep(txn, now) : 0;
}

int sweep(Txn& txn, model::StoreTime now) {
  std::string_view stored;
  const int found = txn.get(sweep_key, stored);
  if (found != 0 && found != MDB_NOTFOUND) return found;
  const std::string before(stored);
  std::string from = before;
  if (const int failed = sweep_from(txn, now, from)) return failed;
  if (from == before) return 0;
  return from.empty() ? txn.del(sweep_key) : txn.put(sweep_key, from);
}

}  // namespace holdfast::backends::file
