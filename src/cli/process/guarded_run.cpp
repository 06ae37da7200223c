// SPDX-License-Identifier: Apache-2.0
#include "cli/process/guarded_run.hpp"

#include "cli/look/display.hpp"
#include "cli/process/attend.hpp"
#include "cli/process/waiting_line.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <optional>

namespace holdfast::cli {

namespace {

using recipes::Beginning;

Result<Beginning> begin(const OpenStore& store, const RunWanted& wanted, Duration wait,
                        const std::stop_token& stop) {
  return runtime::run_blocking(
      recipes::begin_run(store.client.core(), wanted.name, wanted.terms, wait, stop));
}

}  // namespace

void take_back(const OpenStore& store, const RunWanted& wanted) {
  static_cast<void>(runtime::run_blocking(
      recipes::say_last_word(store.client.core(), wanted.name, wanted.terms.take_back())));
}

Result<Beginning> begin_attended(const OpenStore& store, const RunWanted& wanted,
                                 const Console& console, const Signals& signals) {
  if (store.is_local && wanted.wait == Duration::zero()) {
    return begin(store, wanted, Duration::zero(), {});
  }
  Result<Beginning> beginning = fail(Errc::cancelled, "the wait was cancelled");
  WaitingLine line(console);
  Attention attention;
  if (line.is_active()) {
    attention.tick = [&] {
      line.show(fmt::format("waiting for what becomes of '{}'", cleaned(wanted.name.str())));
    };
  }
  const auto signal = attend(signals, attention, [&](const std::stop_token& stop) {
    beginning = begin(store, wanted, wanted.wait, stop);
  });
  line.wipe();
  if (!signal) return beginning;
  if (!beginning || beginning->outcome.done) take_back(store, wanted);
  die_by(*signal);
}

Hold hold_of(const std::shared_ptr<recipes::GuardedRun>& run) {
  using Callback = std::function<void()>;
  using Listening = std::optional<std::stop_callback<Callback>>;
  return {.remaining = [run]() -> Duration { return run->remaining(); },
          .on_lost =
              [run, listening = std::make_shared<Listening>()](auto callback) {
                listening->reset();
                if (!callback) return;
                listening->emplace(run->lost(), Callback([callback = std::move(callback)] {
                                     callback(Error{Errc::lost, "the run was lost"});
                                   }));
              }};
}

}  // namespace holdfast::cli
