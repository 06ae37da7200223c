// SPDX-License-Identifier: Apache-2.0
//
// Beginning a run, waiting for one, and ending it: what the library, the server and the program
// share.
#pragma once

#include <holdfast/idempotency.hpp>

#include "client/core.hpp"
#include "client/renewal.hpp"

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

namespace holdfast::recipes {

using runtime::LocalTime;

// A key as the name of a record. Errors: bad_input, naming the rule.
Result<LockName> run_name(std::string_view key);

// What a run is begun, renewed and ended with.
struct RunTerms {
  std::string owner;
  std::string fingerprint;
  Micros guard = default_guard;
  Micros ttl = default_answer_ttl;
  Micros keep_failure = default_keep_failure;
  bool takes_over = true;
  // The caller brought the owner, and may come back with it: what it may have begun is left to it.
  bool is_owner_known = false;

  model::RunCommand begin() const;
  model::RunCommand renew() const;
  model::RunCommand complete(Answer answer) const;
  // A longer text is cut.
  model::RunCommand fail(std::string_view why) const;
  model::RunCommand abandon() const;
  // It was begun, but nothing was run: nothing must be left that says it might have been.
  model::RunCommand take_back() const;
};

// As the caller gave them, with a fresh owner. Errors: bad_input, naming the option and its rule.
Result<RunTerms> make_terms(const client::Core& core, const IdempotencyOptions& options);

// One step. Errors as Store::apply.
Task<Result<model::RunOutcome>> ask_run(std::shared_ptr<client::Core> core, LockName name,
                                        model::RunCommand command, std::stop_token stop);

// Whether the same question may bring an answer a little later; each of them may be repeated.
bool may_pass(const Error& error);

// What a begin came to. With `outcome.done` the run is the caller's, and surely so until
// `valid_until`.
struct Beginning {
  model::RunOutcome outcome;
  LocalTime valid_until{};
};

// Begins a run, or waits up to `wait` for what becomes of the one that is under way. A store that
// is away for a moment is asked again. However it ends, the store is left with a run of the
// caller's, or with nothing of it (at the latest when the guard ends, if it cannot be reached).
// Errors as Store::apply, and cancelled.
Task<Result<Beginning>> begin_run(std::shared_ptr<client::Core> core, LockName name, RunTerms terms,
                                  Micros wait, std::stop_token stop);

// The last word of a run, said again and again for a while where the store does not answer: every
// one of them may be repeated. Errors: lost, bad_input, unavailable, outcome_unknown.
// After a stop it is not repeated.
Task<Result<void>> say_last_word(std::shared_ptr<client::Core> core, LockName name,
                                 model::RunCommand command, std::stop_token stop = {});

// What a caller is told who did not get the run, or only looks.
Once describe(const model::RunOutcome& outcome);
// The error `lost`, for a word that was not taken.
Error explain_lost(const LockName& name, const model::RunOutcome& outcome);

// A run of ours with its renewal.
class GuardedRun : public std::enable_shared_from_this<GuardedRun> {
 public:
  static std::shared_ptr<GuardedRun> start(std::shared_ptr<client::Core> core, LockName name,
                                           RunTerms terms, bool renew, const Beginning& beginning,
                                           client::Span span = {});
  GuardedRun(std::shared_ptr<client::Core> core, LockName name, RunTerms terms, bool renew,
             const Beginning& beginning);

  const RunTerms& terms() const { return terms_; }
  client::Core& core() const { return *core_; }
  Fence fence() const { return fence_; }
  bool took_over() const { return took_over_; }
  bool valid() const;
  // How long it is surely still ours; zero once it is lost or has ended.
  Micros remaining() const;
  std::stop_token lost() const { return lost_.get_token(); }

  // Ends it by its last word. A second one is `lost`.
  Task<Result<void>> end(model::RunCommand last_word);
  // The handle goes away: says so without keeping anybody waiting.
  void leave();

 private:
  enum class State : std::uint8_t { running, lost, ended };

  LocalTime now() const { return core_->runtime().now(); }
  void arm();  // with mutex_ held
  void tick();
  void lose();
  bool stop_renewing();  // true if it was not ended before
  Task<Result<void>> renew(LocalTime deadline);

  const std::shared_ptr<client::Core> core_;
  const LockName name_;
  const RunTerms terms_;
  const Fence fence_;
  const bool took_over_;
  std::stop_source lost_;
  client::Span span_;  // of whoever ends the run

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  State state_ = State::running;
  client::RenewalPlan plan_;
  runtime::TimerId timer_{};
};

}  // namespace holdfast::recipes
