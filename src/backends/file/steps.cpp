// SPDX-License-Identifier: Apache-2.0
#include "backends/file/steps.hpp"

#include "backends/file/record.hpp"
#include "backends/file/slots.hpp"
#include "backends/file/sweep.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <utility>

namespace holdfast::backends::file {

namespace {

class FileWorld final : public model::World {
 public:
  FileWorld(const StepInput& input, model::FenceCounter& fences, WakeLayout& wake)
      : World(input.now, input.wall_us, fences), wake_(wake) {}
  bool reachable(model::ProcessId process) override { return is_listening(wake_, process); }

 private:
  WakeLayout& wake_;
};

// One attempt to run all steps in one transaction. Answers LMDB's codes, as the calls it makes do.
class Attempt {
 public:
  Attempt(Txn txn, WakeLayout& wake, const StepInput& input, MetaRecord meta)
      : txn_(std::move(txn)), wake_(wake), input_(input), meta_(meta), fences_(meta.fence) {}

  int run(PendingStep& step) {
    const auto& command = std::get<model::LockCommand>(step.request->command);
    const std::string& name = step.request->name.str();
    const RecordKey key(model::machine_of(step.request->command), name);
    std::string_view before;
    const int found = txn_.get(key.bytes(), before);
    if (found != 0 && found != MDB_NOTFOUND) return found;
    auto state = found == 0 ? load(key, name, before) : Result<model::LockState>();
    if (!state) {
      step.reply = std::unexpected(std::move(state.error()));
      return 0;
    }
    FileWorld world(input_, fences_, wake_);
    step.reply = store::Reply{.at = input_.now, .outcome = model::step(*state, command, world)};
    step.messages = std::move(world.messages);
    if (std::holds_alternative<model::Inspect>(command.verb)) return 0;
    return save(key, name, *state, before);
  }

  // A step that changed nothing costs no commit.
  int finish(bool durable) {
    if (!changed_) return 0;
    if (fences_.last() != meta_.fence || durable) {
      meta_.fence = fences_.last();
      meta_.last_step = input_.now;
      if (const int failed = write_meta(txn_, meta_)) return failed;
    }
    if (const int failed = sweep_now_and_then(txn_, input_.now)) return failed;
    return txn_.commit();
  }

 private:
  static Result<model::LockState> load(const RecordKey& key, std::string_view name,
                                       std::string_view value) {
    const auto record = parse_record(key.bytes(), value);
    if (record && record->name == name) return model::decode(record->state);
    return fail(Errc::unavailable, "the stored record belongs to another name of the same hash");
  }

  int save(const RecordKey& key, std::string_view name, const model::LockState& state,
           std::string_view before) {
    if (model::forgettable(state, input_.now)) {
      if (before.empty()) return 0;
      changed_ = true;
      return txn_.del(key.bytes());
    }
    model::encode(state, after_);
    make_value(name, after_);
    if (after_ == before) return 0;
    changed_ = true;
    return txn_.put(key.bytes(), after_);
  }

  Txn txn_;
  WakeLayout& wake_;
  const StepInput& input_;
  MetaRecord meta_;
  model::FenceCounter fences_;
  std::string after_;
  bool changed_ = false;
};

Result<int> attempt(Database& database, WakeLayout& wake, std::span<PendingStep* const> steps,
                    const StepInput& input) {
  auto txn = database.begin();
  if (!txn) return std::unexpected(std::move(txn.error()));
  auto meta = read_meta(*txn);
  if (!meta) return std::unexpected(std::move(meta.error()));
  Attempt all(std::move(*txn), wake, input, *meta);
  for (PendingStep* step : steps) {
    if (const int failed = all.run(*step)) return failed;
  }
  return all.finish(database.durable());
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

void run_steps(Database& database, WakeLayout& wake, std::span<PendingStep* const> steps,
               const StepInput& input) {
  Error error;
  while (true) {
    const auto done = attempt(database, wake, steps, input);
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
  for (PendingStep* const& step : steps) run_steps(database, wake, {&step, 1}, input);
}

}  // namespace holdfast::backends::file
