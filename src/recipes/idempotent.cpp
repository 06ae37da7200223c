// SPDX-License-Identifier: Apache-2.0
//
// The public face: Client::idempotent and what belongs to it.
#include <holdfast/client.hpp>

#include "recipes/idempotency.hpp"
#include "recipes/run_watch.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast {

namespace {

// A blocking call on a run, or why there can be none.
Result<void> end_blocking(const std::shared_ptr<recipes::GuardedRun>& run,
                          model::RunCommand last_word) {
  if (auto good = run->core().may_block(); !good) return good;
  return runtime::run_blocking(run->end(std::move(last_word)));
}

Result<model::RunOutcome> ask_blocking(const std::shared_ptr<client::Core>& core,
                                       std::string_view key, model::RunCommand::Verb verb) {
  if (auto good = core->may_block(); !good) return std::unexpected(std::move(good.error()));
  auto name = recipes::run_name(key);
  if (!name) return std::unexpected(std::move(name.error()));
  return runtime::run_blocking(recipes::ask_run(core, std::move(*name), {.verb = verb}, {}));
}

}  // namespace

Run::Run(std::shared_ptr<recipes::GuardedRun> guarded) noexcept : guarded_(std::move(guarded)) {}
Run::Run(Run&&) noexcept = default;

Run& Run::operator=(Run&& other) noexcept {
  if (this != &other) {
    if (guarded_) guarded_->leave();
    guarded_ = std::move(other.guarded_);
  }
  return *this;
}

Run::~Run() {
  if (guarded_) guarded_->leave();
}

Fence Run::fence() const noexcept { return guarded_->fence(); }
bool Run::took_over() const noexcept { return guarded_->took_over(); }
bool Run::valid() const noexcept { return guarded_->valid(); }
std::stop_token Run::lost() const noexcept { return guarded_->lost(); }

Result<void> Run::complete(const Answer& answer) {
  return end_blocking(guarded_, guarded_->terms().complete(answer));
}

Result<void> Run::fail(std::string_view why) {
  return end_blocking(guarded_, guarded_->terms().fail(why));
}

Result<void> Run::abandon() { return end_blocking(guarded_, guarded_->terms().abandon()); }

Result<Begun> Client::begin_run(std::string_view key, IdempotencyOptions options,
                                std::stop_token stop) const {
  if (auto good = core_->may_block(); !good) return std::unexpected(std::move(good.error()));
  auto name = recipes::run_name(key);
  if (!name) return std::unexpected(std::move(name.error()));
  auto terms = recipes::make_terms(*core_, options);
  if (!terms) return std::unexpected(std::move(terms.error()));
  auto span = core_->span("idempotency.run", {{"idempotency.key", name->str()}});
  auto beginning = runtime::run_blocking(
      recipes::begin_run(core_, *name, *terms, options.wait, std::move(stop)));
  recipes::count_beginning(*core_, beginning);
  if (!beginning || !beginning->outcome.done) recipes::tell_no_run(span, beginning);
  if (!beginning) return std::unexpected(std::move(beginning.error()));
  if (!beginning->outcome.done) return Begun{.instead = recipes::describe(beginning->outcome)};
  return Begun{.run = Run(recipes::GuardedRun::start(core_, std::move(*name), std::move(*terms),
                                                     options.renew, *beginning, std::move(span)))};
}

Result<std::optional<Once>> Client::look_at_run(std::string_view key) const {
  auto found = ask_blocking(core_, key, model::RunCommand::Verb::look);
  if (!found) return std::unexpected(std::move(found.error()));
  if (found->found == RunFound::nothing) return std::nullopt;
  return recipes::describe(*found);
}

Result<bool> Client::forget_run(std::string_view key) const {
  auto found = ask_blocking(core_, key, model::RunCommand::Verb::forget);
  if (!found) return std::unexpected(std::move(found.error()));
  return found->done;
}

std::string_view to_string(Ending ending) noexcept {
  switch (ending) {
    case Ending::ran: return "ran";
    case Ending::replayed: return "replayed";
    case Ending::in_progress: return "in_progress";
    case Ending::mismatch: return "mismatch";
    case Ending::failed_before: return "failed_before";
    case Ending::unknown: return "unknown";
  }
  std::unreachable();
}

namespace detail {

std::string words_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception without words";
  }
}

namespace {

// Of an answer that cannot be kept.
Answer instead_of(const Answer& answer) {
  const bool is_status = answer.status >= 100 && answer.status <= 599;
  return {.status = is_status ? answer.status : std::uint16_t{200},
          .body = R"({"code":"answer_not_kept","detail":"it has happened; its answer broke a rule )"
                  R"(of what can be kept"})"};
}

}  // namespace

Result<Once> conclude(Run& run, Result<Answer> worked) {
  if (!worked) {
    // Its own error says more than a failure to tell the store of it.
    const bool may_have_happened = worked.error().code == Errc::outcome_unknown;
    static_cast<void>(may_have_happened ? run.abandon() : run.fail(worked.error().message));
    return std::unexpected(std::move(worked.error()));
  }
  const auto fence = run.fence();
  if (auto kept = run.complete(*worked); !kept) {
    auto& error = kept.error();
    // It has happened all the same, and must not happen again.
    if (error.code == Errc::bad_input) static_cast<void>(run.complete(instead_of(*worked)));
    error.message = fmt::format("it ran, but its answer was not kept: {}", error.message);
    return std::unexpected(std::move(error));
  }
  return Once{.ending = Ending::ran, .answer = std::move(*worked), .fence = fence};
}

}  // namespace detail

}  // namespace holdfast
