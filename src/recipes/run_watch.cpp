// SPDX-License-Identifier: Apache-2.0
#include "recipes/run_watch.hpp"

#include <utility>

namespace holdfast::recipes {

namespace {

using Verb = model::RunCommand::Verb;

client::Counter& counter_of(client::Counters::Runs& runs, const model::RunOutcome& outcome) {
  if (outcome.done) return outcome.found == RunFound::abandoned ? runs.took_over : runs.fresh;
  switch (outcome.found) {
    case RunFound::completed: return runs.replayed;
    case RunFound::failed: return runs.failed_before;
    case RunFound::mismatch: return runs.mismatch;
    case RunFound::in_progress: return runs.in_progress;
    case RunFound::abandoned:
    case RunFound::nothing: return runs.unknown;
  }
  std::unreachable();
}

std::string_view word_for(Verb last_word) {
  switch (last_word) {
    case Verb::complete: return "completed";
    case Verb::fail: return "failed";
    default: return "abandoned";
  }
}

}  // namespace

void count_beginning(client::Core& core, const Result<Beginning>& beginning) {
  auto& runs = core.counters().runs;
  (beginning ? counter_of(runs, beginning->outcome) : runs.errors).add();
}

void tell_no_run(client::Span& span, const Result<Beginning>& beginning) {
  if (!beginning) {
    span.end({{"idempotency.error", to_string(beginning.error().code)}});
    return;
  }
  span.end({{"idempotency.outcome", to_string(describe(beginning->outcome).ending)},
            {"idempotency.fence", client::traced(beginning->outcome.fence)}});
}

void tell_end(client::Span& span, Verb last_word, Fence fence, const Result<void>& result) {
  const TraceAttribute its_fence{"idempotency.fence", client::traced(fence)};
  if (result) {
    span.end({{"idempotency.outcome", word_for(last_word)}, its_fence});
  } else if (result.error().code == Errc::lost) {
    span.end({{"idempotency.outcome", "lost"}, its_fence});
  } else {
    span.end({{"idempotency.error", to_string(result.error().code)}, its_fence});
  }
}

}  // namespace holdfast::recipes
