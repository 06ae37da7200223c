// SPDX-License-Identifier: Apache-2.0
#include "backends/file/steps.hpp"

#include "backends/file/record.hpp"
#include "backends/file/slots.hpp"
#include "backends/file/sweep.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <type_traits>
#include <utility>

namespace holdfast::backends::file {

namespace {

class FileWorld final : public model::World {
 public:
  // The wake file got its first fence from the wall clock, and cannot be lost while we map it.
  FileWorld(model::StoreTime now, model::FenceCounter& fences, const WakeFile& wake)
      : World(now, 0, fences), wake_(wake) {}
  bool reachable(model::ProcessId process) override { return is_listening(wake_, process); }

 private:
  const WakeFile& wake_;
};

template <typename State>
Result<State> state_from(std::string_view bytes) {
  if constexpr (std::is_same_v<State, model::GuardState>)
    return model::decode_guard(bytes);
  else if constexpr (std::is_same_v<State, model::RateState>)
    return model::decode_rate(bytes);
  else if constexpr (std::is_same_v<State, model::RunState>)
    return model::decode_run(bytes);
  else
    return model::decode(bytes);
}

// One attempt to run all steps in one transaction. Answers LMDB's codes, as the calls it makes do.
class Attempt {
 public:
  Attempt(Txn txn, Database& database, const WakeFile& wake, model::StoreTime now)
      : txn_(std::move(txn)),
        database_(database),
        wake_(wake),
        now_(now),
        fences_(wake.layout().writer.fence.load(std::memory_order_relaxed)),
        bound_(wake.layout().writer.fence_bound.load(std::memory_order_relaxed)) {}

  int run(PendingStep& step) {
    if (const auto* check = std::get_if<model::GuardCommand>(&step.request->command)) {
      return on_record<model::GuardState>(step, [&](model::GuardState& state) {
        return store::Reply{.at = now_, .outcome = model::step(state, *check, now_)};
      });
    }
    if (const auto* rate = std::get_if<model::RateCommand>(&step.request->command)) {
      return on_record<model::RateState>(step, [&](model::RateState& state) {
        return store::Reply{.at = now_, .outcome = model::step(state, *rate, now_)};
      });
    }
    if (const auto* run = std::get_if<model::RunCommand>(&step.request->command)) {
      return on_record<model::RunState>(step, [&](model::RunState& state) {
        FileWorld world(now_, fences_, wake_);
        return store::Reply{.at = now_, .outcome = model::step(state, *run, world)};
      });
    }
    const auto& command = std::get<model::LockCommand>(step.request->command);
    return on_record<model::LockState>(step, [&](model::LockState& state) {
      FileWorld world(now_, fences_, wake_);
      store::Reply reply{.at = now_, .outcome = model::step(state, command, world)};
      step.messages = std::move(world.messages);
      return reply;
    });
  }

  bool changed_nothing() const {
    return !changed_ &&
           fences_.last() == wake_.layout().writer.fence.load(std::memory_order_relaxed);
  }

  // A step that changed nothing costs no commit.
  int finish() {
    if (changed_nothing()) return 0;
    if (const int failed = keep_fences()) return failed;
    if (const int failed = sweep_now_and_then(txn_, now_)) return failed;
    const int failed = txn_.commit();
    if (failed == 0) wake_.layout().writer.fence_bound.store(bound_, std::memory_order_relaxed);
    return failed;
  }

 private:
  template <typename State, typename Act>
  int on_record(PendingStep& step, Act act) {
    const std::string& name = step.request->name.str();
    const RecordKey key(model::machine_of(step.request->command), name);
    std::string_view before;
    const int found = txn_.get(key.bytes(), before);
    if (found != 0 && found != MDB_NOTFOUND) return found;
    auto state = found == 0 ? load<State>(key, name, before) : Result<State>();
    if (!state) {
      step.reply = std::unexpected(std::move(state.error()));
      return 0;
    }
    step.reply = act(*state);
    return model::only_looks(step.request->command) ? 0 : save(key, name, *state, before);
  }

  int keep_fences() {
    wake_.layout().writer.fence.store(fences_.last(), std::memory_order_relaxed);
    const bool is_past_bound = fences_.last() > bound_;
    if (is_past_bound) bound_ = fences_.last() + fences_ahead;
    if (!is_past_bound && !database_.durable()) return 0;
    return write_meta(txn_,
                      {.boot_id = database_.boot_id(), .fence_bound = bound_, .last_step = now_});
  }

  template <typename State>
  static Result<State> load(const RecordKey& key, std::string_view name, std::string_view value) {
    const auto record = parse_record(key.bytes(), value);
    if (record && record->name == name) return state_from<State>(record->state);
    return fail(Errc::unavailable, "the stored record belongs to another name of the same hash");
  }

  template <typename State>
  int save(const RecordKey& key, std::string_view name, const State& state,
           std::string_view before) {
    if (model::forgettable(state, now_)) {
      if (before.empty()) return 0;
      changed_ = true;
      return txn_.del(key.bytes());
    }
    std::string& after = database_.scratch();
    model::encode(state, after);
    make_value(name, after);
    if (after == before) return 0;
    changed_ = true;
    return txn_.put(key.bytes(), after);
  }

  Txn txn_;
  Database& database_;
  const WakeFile& wake_;
  const model::StoreTime now_;
  model::FenceCounter fences_;
  Fence bound_;
  bool changed_ = false;
};

Result<int> attempt(Database& database, const WakeFile& wake, std::span<PendingStep* const> steps,
                    model::StoreTime now) {
  auto txn = database.begin();
  if (!txn) return std::unexpected(std::move(txn.error()));
  Attempt all(std::move(*txn), database, wake, now);
  for (PendingStep* step : steps) {
    if (const int failed = all.run(*step)) return failed;
  }
  return all.finish();
}

void fail_all(std::span<PendingStep* const> steps, const Error& error) {
  for (PendingStep* step : steps) {
    step->messages.clear();
    step->reply = std::unexpected(error);
  }
}

// LMDB undoes a failed commit. If it could not even write its header page, what is on the disk
// cannot be known, and LMDB refuses to go on.
Error failed_commit(const Database& database, int code) {
  if (database.is_sound()) {
    return {Errc::unavailable, fmt::format("nothing was changed: {}", mdb_strerror(code))};
  }
  return {Errc::outcome_unknown,
          fmt::format("the change may or may not be on the disk: {}", mdb_strerror(code))};
}

}  // namespace

void run_steps(Database& database, const WakeFile& wake, std::span<PendingStep* const> steps,
               model::StoreTime now) {
  Error error;
  while (true) {
    const auto done = attempt(database, wake, steps, now);
    if (done && *done == 0) return;
    if (!done) return fail_all(steps, done.error());
    if (*done != MDB_MAP_FULL) {
      error = failed_commit(database, *done);
      break;
    }
    if (auto grown = database.grow(); !grown) {
      error = std::move(grown.error());
      break;
    }
  }
  // One that needs room must not take the others with it: each tries again by itself.
  if (steps.size() == 1 || error.code == Errc::outcome_unknown) return fail_all(steps, error);
  for (PendingStep* const& step : steps) run_steps(database, wake, {&step, 1}, now);
}

bool run_if_it_changes_nothing(Database& database, const WakeFile& wake, PendingStep& step,
                               model::StoreTime now) {
  auto txn = database.begin();
  if (!txn) return false;
  Attempt only(std::move(*txn), database, wake, now);
  const bool is_done = only.run(step) == 0 && step.reply && only.changed_nothing();
  if (!is_done) step = {.request = step.request};
  return is_done;
}

Result<void> take_over_fences(Database& database, WakeLayout& wake) {
  auto txn = database.begin();
  if (!txn) return std::unexpected(std::move(txn.error()));
  const auto meta = read_meta(*txn);
  if (!meta) return std::unexpected(meta.error());
  WriterSection& writer = wake.writer;
  writer.fence_bound.store(meta->fence_bound, std::memory_order_relaxed);
  if (writer.fence.load(std::memory_order_relaxed) != 0) return {};
  const Fence first = model::FenceCounter(meta->fence_bound).next(runtime::wall_clock_us());
  writer.fence.store(first, std::memory_order_relaxed);
  return {};
}

}  // namespace holdfast::backends::file
