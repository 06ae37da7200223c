// SPDX-License-Identifier: Apache-2.0
//
// Doing something once, however often it is asked for:
//
//   auto paid = client.idempotent("payment:" + order_id, {.fingerprint = request_text, .ttl = 24h},
//                                 [&](const holdfast::Run& run) -> Result<Answer> {
//     return charge(order_id, run.fence());
//   });
//   if (paid && paid->ending == holdfast::Ending::replayed) …  // paid->answer is the first one's
//
// The key must mean the thing that happens once, such as an order. A key that is made anew for each
// request protects from nothing. docs/payments.md has the whole picture.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>
#include <holdfast/runs.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast {

namespace recipes {
class GuardedRun;
}

// What to do where a run began and was never heard of again.
enum class TakeOver : std::uint8_t {
  run,     // run in its place: the work learns of it by Run::took_over, and should look first
  refuse,  // leave it: that it may have happened is all that can be said
};

struct IdempotencyOptions {
  // What is asked for. The same key with another fingerprint is a mismatch; empty agrees with all.
  std::string_view fingerprint{};
  // How long the answer is replayed, and how long a run that was never heard of again is known.
  Duration ttl = default_answer_ttl;
  // How long to wait for the answer of a run that is under way: 0 to max_wait.
  Duration wait{};
  // How long a run counts as under way without a sign of life: min_guard to max_guard.
  Duration guard = default_guard;
  // Give that sign in the background until the run ends or is lost.
  bool renew = true;
  // How long others are told of a failure instead of trying again: 0 to max_answer_ttl.
  Duration keep_failure = default_keep_failure;
  TakeOver take_over = TakeOver::run;
};

// A run that is ours until it is completed, failed, abandoned or lost. Move-only; a moved-from run
// is empty and may only be destroyed or assigned to. The destructor of one that did not end
// abandons it: what it did nobody knows, and whoever comes next is told so.
class Run {
 public:
  explicit Run(std::shared_ptr<recipes::GuardedRun> guarded) noexcept;
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();

  // Larger than that of every run of this key before. A resource that checks fences refuses whoever
  // was believed dead and comes late.
  Fence fence() const noexcept;
  // Another run of this key began and was not heard of again: look what it did before you do it.
  bool took_over() const noexcept;
  // Whether the run is surely still ours. Compares the clock at every call.
  bool valid() const noexcept;
  // Fires before anybody else can take over, as long as the store kept its data.
  std::stop_token lost() const noexcept;

  // Keeps the answer. Errors: lost (somebody took over; nothing of theirs was overwritten),
  // bad_input (nothing was kept, and the run is still ours), unavailable, outcome_unknown and
  // not_replicated after trying for a while: others then wait for the guard to end, and may be told
  // that it was abandoned.
  Result<void> complete(const Answer& answer);
  // It has not happened. Others are told so for options.keep_failure, or may try again at once. Of
  // a run that took over the same as abandon.
  Result<void> fail(std::string_view why);
  // It may or may not have happened.
  Result<void> abandon();

 private:
  std::shared_ptr<recipes::GuardedRun> guarded_;
};

enum class Ending : std::uint8_t {
  ran = 1,        // by this call; `answer` is what it returned
  replayed,       // it had happened before; `answer` is what it came to
  in_progress,    // somebody runs it now; `retry_after` is when that is known better at the latest
  mismatch,       // the key belongs to something else
  failed_before,  // and `failure` says why
  unknown,        // it was abandoned, and TakeOver::refuse: it may or may not have happened
};

// The stable words: "ran", "replayed", "in_progress", "mismatch", "failed_before", "unknown".
std::string_view to_string(Ending ending) noexcept;

struct Once {
  Ending ending = Ending::ran;
  Answer answer{};
  std::string failure{};
  Fence fence = 0;
  Duration retry_after{};
};

// Either a run, or what there is to say instead.
struct Begun {
  std::optional<Run> run{};
  Once instead{};  // never Ending::ran
};

// The fingerprint of a request as NestJS RedisX takes it: SHA-256 in hexadecimal of method, path,
// body and query, joined by '|', the JSON ones in a canonical form. `path` is the URL as it was
// asked for, with its query. A body of nothing counts as {}. Errors: bad_input, naming the part
// that is not JSON.
struct RequestParts {
  std::optional<std::string_view> method{};
  std::optional<std::string_view> path{};
  std::optional<std::string_view> body{};   // JSON
  std::optional<std::string_view> query{};  // JSON
};
Result<std::string> request_fingerprint(const RequestParts& parts);

// JSON with the keys of every object in order and without spaces, numbers and texts as JavaScript
// writes them. Errors: bad_input, naming what is wrong and where.
Result<std::string> canonical_json(std::string_view json);

namespace detail {

// What a work may return, as an answer.
inline Answer answer_of(Answer answer) { return answer; }
inline Answer answer_of(std::string body) { return {.body = std::move(body)}; }

// What an exception says, for others to read.
std::string words_of(const std::exception_ptr& thrown);

// Ends the run as the work did.
Result<Once> conclude(Run& run, Result<Answer> worked);

template <typename Work>
Result<Answer> call(Work&& work, const Run& run) {
  using R = std::invoke_result_t<Work, const Run&>;
  if constexpr (std::is_void_v<R>) {
    std::invoke(std::forward<Work>(work), run);
    return Answer{};
  } else if constexpr (std::is_same_v<R, Result<void>>) {
    auto done = std::invoke(std::forward<Work>(work), run);
    if (!done) return std::unexpected(std::move(done.error()));
    return Answer{};
  } else if constexpr (requires(R r) {
                         r.has_value();
                         requires std::is_same_v<typename R::error_type, Error>;
                       }) {
    auto done = std::invoke(std::forward<Work>(work), run);
    if (!done) return std::unexpected(std::move(done.error()));
    return answer_of(std::move(*done));
  } else {
    return answer_of(std::invoke(std::forward<Work>(work), run));
  }
}

template <typename Work>
Result<Once> run_once(Begun begun, Work&& work) {
  if (!begun.run) return std::move(begun.instead);
  Run& run = *begun.run;
  std::optional<Result<Answer>> worked;
  try {
    worked.emplace(call(std::forward<Work>(work), std::as_const(run)));
  } catch (...) {
    // The exception says more than a failure to tell the store of it.
    static_cast<void>(run.fail(words_of(std::current_exception())));
    throw;
  }
  return conclude(run, std::move(*worked));
}

}  // namespace detail

}  // namespace holdfast
