// SPDX-License-Identifier: Apache-2.0
#include "forrst/engine.hpp"

#include <holdfast/idempotency.hpp>

#include "forrst/duration.hpp"
#include "forrst/leash.hpp"
#include "forrst/once.hpp"
#include "forrst/rate_limits.hpp"
#include "forrst/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>

namespace holdfast::forrst {

struct Engine::Job {
  std::stop_token stop;    // nobody wants it any more
  std::stop_token lost{};  // of the lock
  std::string once_key{};
  bool took_over = false;
  // What it came to.
  Effect effect = Effect::none;
  // As a function of the protocol's own wants it.
  int status = 0;
  std::move_only_function<void()> undelivered{};
};

namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

Fault too_late() { return make_fault(codes::deadline_exceeded, "The deadline passed"); }

Fault lost_lock(const LockOrder& order) {
  return make_fault(codes::conflict,
                    "The lock was lost while the function ran: it may have run beside another",
                    order.details());
}

Fault disabled(std::string_view function) {
  return make_fault(codes::function_disabled, "The function is disabled for now",
                    {{"function", function}});
}

Outcome broken(Host& host, std::string_view function, const std::exception_ptr& thrown) {
  host.complain(function, detail::words_of(thrown));
  return std::unexpected(make_fault(codes::internal_error, "The function failed"));
}

Outcome guarded(Host& host, const Function& function, const Invocation& invocation) {
  try {
    return function.handler(invocation);
  } catch (...) {
    return broken(host, function.name, std::current_exception());
  }
}

Fault too_busy() {
  return make_fault(codes::unavailable, "Too many calls wait for a thread; try again later");
}

Fault cancelled() { return make_fault("CANCELLED", "It was stopped before it began"); }

// What the engine says of locks and runs means that nothing was done. Of a function that passes on
// what another service said to it, it does not.
Outcome in_its_own_words(Outcome outcome) {
  if (outcome) return outcome;
  auto& fault = outcome.error();
  if (!fault.code.starts_with("LOCK_") && !fault.code.starts_with("IDEMPOTENCY_")) return outcome;
  fault.details["code"] = std::exchange(fault.code, std::string(codes::dependency_error));
  return outcome;
}

Answered conclude(Outcome outcome, int status) {
  if (!outcome) return failed(std::move(outcome.error()));
  Answered answered;
  answered.result = std::move(*outcome);
  answered.status = status;
  return answered;
}

// Whoever asks for advice gets it even if nothing else of the request could be looked at.
std::vector<std::pair<Extension, std::string>> advice_wanted(const Envelope& envelope) {
  std::vector<std::pair<Extension, std::string>> wanted;
  for (const auto& each : envelope.extensions) {
    const bool is_retry = known_extension(each.urn) == Extension::retry;
    if (is_retry && wanted.empty()) wanted.emplace_back(Extension::retry, each.urn);
  }
  return wanted;
}

json::object deadline_data(Duration specified, Duration elapsed) {
  const auto in_ms = [](Duration time) {
    return json::object{{"value", std::chrono::duration_cast<milliseconds>(time).count()},
                        {"unit", "millisecond"}};
  };
  const double used =
      specified > Duration::zero() ? std::chrono::duration<double>(elapsed) / specified : 1.0;
  return {{"specified", to_json(specified)},
          {"elapsed", in_ms(elapsed)},
          {"remaining", in_ms(std::max(specified - elapsed, Duration::zero()))},
          {"utilization", std::round(used * 10'000) / 10'000}};
}

}  // namespace

Engine::Engine(std::shared_ptr<client::Core> core, ServiceOptions options,
               std::shared_ptr<Host> host)
    : core_(std::move(core)),
      options_(std::move(options)),
      host_(std::move(host)),
      locks_(core_, host_, options_),
      pool_(core_->shared_runtime(), options_.threads, options_.max_waiting_calls) {
  add_system_functions();
  add_lock_functions();
}

Reply Engine::refuse(int status, const Fault& fault) const {
  host_->answered("", fault.code);
  auto answered = failed(fault);
  answered.status = status;
  return encode(std::move(answered), {.id = std::nullopt, .node = options_.node});
}

// Whoever may lock under the name of a function may call it.
std::string Engine::needed_name(const Turn& turn) const {
  if (turn.function->is_system()) return {};
  return fmt::format("{}{}:", options_.prefix, turn.envelope.function);
}

// Nothing is done before all of this is good.
std::expected<void, std::vector<Fault>> Engine::prepare(Turn& turn) const {
  const auto found = registry_.find(turn.envelope.function, turn.envelope.version);
  if (!found) {
    turn.orders.asked = advice_wanted(turn.envelope);
    return std::unexpected(std::vector{found.error()});
  }
  turn.function = *found;
  auto faults = check_arguments(turn.function->function, turn.envelope.arguments);
  turn.orders = parse_orders(turn.envelope, *turn.function, options_, faults);
  if (faults.size() > max_faults) faults.resize(max_faults);
  if (!faults.empty()) return std::unexpected(std::move(faults));
  if (!turn.may(turn.function->right, needed_name(turn))) {
    return std::unexpected(
        std::vector{make_fault(codes::forbidden, "Your token may not call this function",
                               {{"function", turn.envelope.function}})});
  }
  if (turn.function->function.is_disabled) {
    return std::unexpected(std::vector{disabled(turn.envelope.function)});
  }
  return {};
}

Reply Engine::finish(const Turn& turn, Answered answered) const {
  const auto took = std::chrono::floor<Micros>(core_->runtime().now() - turn.began);
  if (turn.orders.deadline) {
    answered.of(Extension::deadline) =
        deadline_data(turn.orders.deadline->specified, std::chrono::duration_cast<Duration>(took));
  }
  host_->answered(turn.envelope.function,
                  answered.is_good() ? std::string_view() : answered.faults.front().code);
  return encode(std::move(answered),
                {.id = turn.envelope.id,
                 .orders = &turn.orders,
                 .node = options_.node,
                 .took = std::chrono::duration_cast<Duration>(took),
                 .function = turn.function != nullptr ? &turn.function->function : nullptr});
}

Task<Reply> Engine::answer(std::string_view body, Caller caller, std::stop_token stop) {
  const LocalTime began = core_->runtime().now();
  auto envelope = parse_envelope(body);
  if (!envelope) {
    auto& refusal = envelope.error();
    host_->answered("", refusal.faults.front().code);
    const auto id = std::move(refusal.id);
    Answered answered;
    answered.faults = std::move(refusal.faults);
    return Task<Reply>(encode(std::move(answered), {.id = id, .node = options_.node}));
  }
  auto turn =
      std::make_shared<Turn>(Turn{std::move(*envelope), std::move(caller), std::move(stop), began});
  if (auto good = prepare(*turn); !good) {
    Answered answered;
    answered.faults = std::move(good.error());
    return Task<Reply>(finish(*turn, std::move(answered)));
  }
  return run(shared_from_this(), std::move(turn));
}

Task<Reply> Engine::run(std::shared_ptr<Engine>, std::shared_ptr<Turn> turn) {
  const auto under_way = host_->under_way();
  if (core_->runtime().now() >= turn->give_up_at()) co_return finish(*turn, failed(too_late()));
  auto running = run_limited(*turn);
  Answered answered = co_await std::move(running);
  co_return finish(*turn, std::move(answered));
}

Task<Answered> Engine::run_limited(const Turn& turn) {
  Allowance allowance;
  if (is_limited(turn, options_)) {
    auto asking = ask_limits(core_, turn, options_);
    allowance = co_await std::move(asking);
  }
  Answered answered;
  if (allowance.refused) {
    answered = failed(std::move(*allowance.refused));
    answered.retry_after = allowance.retry_after;
  } else if (turn.orders.once) {
    auto running = run_once(turn);
    answered = co_await std::move(running);
  } else {
    Job job{.stop = turn.stop};
    auto running = run_locked(turn, job);
    answered = co_await std::move(running);
  }
  if (turn.orders.limit) answered.of(Extension::rate_limit) = std::move(allowance.data);
  answered.rate_limit = std::move(allowance.meta);
  std::ranges::move(allowance.headers, std::back_inserter(answered.headers));
  co_return answered;
}

// From its begin on the call is no longer the client's: it goes on when the client leaves, and ends
// with the server.
Task<Answered> Engine::run_once(const Turn& turn) {
  const auto name = record_name(turn);
  const auto terms = terms_of(*core_, turn);
  if (!name || !terms) {
    co_return failed(fault_of(*host_, name ? terms.error() : name.error(), "idempotency"));
  }
  auto beginning = recipes::begin_run(core_, *name, *terms, Micros::zero(), turn.stop);
  const Result<recipes::Beginning> begun = co_await std::move(beginning);
  if (!begun) co_return failed(fault_of(*host_, begun.error(), "idempotency"));
  host_->began(turn.caller, *name, begun->outcome);
  if (!begun->outcome.done) co_return instead_of_running(turn, begun->outcome);
  const auto run = recipes::GuardedRun::start(core_, *name, *terms, true, *begun);
  FirstStop stop;
  stop.add(run->lost());
  stop.add(host_->ending());
  Job job{
      .stop = stop.token(), .once_key = key_for_functions(*name), .took_over = run->took_over()};
  auto running = run_locked(turn, job);
  Answered answered = co_await std::move(running);
  // Before the last word: a renewal that comes after that finds nothing of ours.
  const bool is_lost = run->lost().stop_requested();
  auto saying = recipes::say_last_word(core_, *name, last_word(*terms, turn, job.effect, answered),
                                       host_->ending());
  const Result<void> said = co_await std::move(saying);
  if (!said) host_->complain("idempotency", said.error().message);
  if (is_lost && job.effect != Effect::done) {
    if (answered.undelivered) answered.undelivered();
    co_return failed(
        make_fault(codes::conflict,
                   "The run of this idempotency key was not renewed in time, and another "
                   "may have it",
                   {{"key", turn.orders.once->key}}));
  }
  if (job.effect == Effect::done) answered.of(Extension::idempotency) = processed(turn);
  co_return answered;
}

Task<Answered> Engine::run_locked(const Turn& turn, Job& job) {
  Invocation invocation{.id = turn.envelope.id,
                        .function = turn.envelope.function,
                        .version = turn.function->function.version,
                        .arguments = turn.function->is_system() ? json::object() : turn.arguments(),
                        .context = turn.envelope.context,
                        .idempotency_key = job.once_key,
                        .took_over = job.took_over};
  if (!turn.orders.lock) {
    auto calling = call(turn, job, std::move(invocation));
    Outcome outcome = co_await std::move(calling);
    Answered answered = conclude(std::move(outcome), job.status);
    answered.undelivered = std::move(job.undelivered);
    co_return answered;
  }
  const LockOrder& order = *turn.orders.lock;
  auto taking = locks_.take(turn, order, job.stop);
  std::expected<Locks::Granted, Fault> granted = co_await std::move(taking);
  if (!granted) {
    const bool is_held = granted.error().code == codes::lock_acquisition_failed;
    Answered answered = failed(std::move(granted.error()));
    answered.has_waited = order.block.has_value();
    if (is_held) {
      answered.of(Extension::atomic_lock) = json::object{{"key", order.key}, {"acquired", false}};
    }
    co_return answered;
  }
  const auto lease = locks_.keep(*granted);
  job.lost = lease->lost();
  invocation.lock = HeldLock{.key = order.key,
                             .full_key = order.full_key,
                             .owner = granted->wanted.owner.str(),
                             .fence = granted->taken.fence};
  auto calling = call(turn, job, std::move(invocation));
  Outcome outcome = co_await std::move(calling);
  const Micros remaining = lease->remaining();
  bool was_ours = remaining > Micros::zero();
  // Whoever has left cannot release it.
  const bool is_left = turn.stop.stop_requested() || job.stop.stop_requested();
  const bool stays = !order.auto_release && was_ours && !is_left;
  if (stays) {
    lease->detach();
  } else {
    auto releasing = locks_.give_back(turn, *granted, lease);
    was_ours = co_await std::move(releasing);
  }
  if (!was_ours && job.effect == Effect::done) job.effect = Effect::unknown;
  Answered answered =
      was_ours ? conclude(std::move(outcome), job.status) : failed(lost_lock(order));
  answered.has_waited = order.block.has_value();
  if (was_ours) answered.of(Extension::atomic_lock) = Locks::data_of(order, *granted, remaining);
  if (stays) {
    answered.undelivered = [core = core_, held = granted->wanted] {
      client::give_back(core, held);
    };
  }
  co_return answered;
}

Task<Outcome> Engine::call(const Turn& turn, Job& job, Invocation invocation) {
  const Function& function = turn.function->function;
  if (turn.function->is_system()) {
    auto calling = turn.function->system(turn);
    SystemOutcome done = co_await std::move(calling);
    job.status = done.status;
    job.undelivered = std::move(done.undelivered);
    job.effect = effect_of(done.outcome);
    co_return std::move(done.outcome);
  }
  const LocalTime now = core_->runtime().now();
  const LocalTime until = std::min<LocalTime>(turn.give_up_at(), now + function.timeout);
  if (until <= now) co_return std::unexpected(too_late());
  Leash leash(core_->shared_runtime(), until);
  leash.ends_with(job.stop);
  leash.ends_with(job.lost);
  invocation.stop = leash.token();
  invocation.deadline =
      steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(until - now);
  // A crash from here on leaves open what was done.
  job.effect = Effect::unknown;
  Outcome outcome;
  if (function.handler) {
    auto working = pool_.run(
        [this, &function, invocation = std::move(invocation)] {
          return guarded(*host_, function, invocation);
        },
        leash.token());
    std::expected<Outcome, WorkerPool::NotRun> ran = co_await std::move(working);
    if (!ran) {
      job.effect = Effect::none;
      const bool is_late = core_->runtime().now() >= until;
      co_return std::unexpected(ran.error() == WorkerPool::NotRun::too_many ? too_busy()
                                : is_late                                   ? too_late()
                                                                            : cancelled());
    }
    outcome = std::move(*ran);
  } else {
    std::exception_ptr thrown;
    try {
      auto working = function.async_handler(std::move(invocation));
      outcome = co_await std::move(working);
    } catch (...) {
      thrown = std::current_exception();
    }
    if (thrown) outcome = broken(*host_, function.name, thrown);
  }
  outcome = in_its_own_words(std::move(outcome));
  job.effect = effect_of(outcome);
  co_return outcome;
}

}  // namespace holdfast::forrst
