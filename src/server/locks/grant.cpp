// SPDX-License-Identifier: Apache-2.0
#include "server/locks/grant.hpp"

#include "model/party.hpp"
#include "server/locks/ask.hpp"
#include "server/locks/waiting_room.hpp"
#include "server/metrics/metrics.hpp"
#include "server/options.hpp"

#include <fmt/format.h>

namespace holdfast::server {

namespace {

void record(const Acquisition& of, Happening happening) {
  const auto& wanted = of.order.wanted;
  if (!of.is_observed()) {
    if (happening.type == EventType::acquired) {
      of.services.journal.note(of.who, "acquired", of.name(), "");
    }
    return;
  }
  happening.name = of.name();
  happening.kind = wanted.spec.kind;
  happening.permits = wanted.permits;
  happening.metadata = wanted.metadata;
  of.services.journal.record(of.who, happening);
}

// Whoever is granted a lock at once has spent a few microseconds on asking for it.
std::optional<Micros> waited_in_line(const Taken& taken) {
  constexpr Micros shortest_wait{100};
  return taken.waited >= shortest_wait ? std::optional(taken.waited) : std::nullopt;
}

// The session's lease is renewed here from now on.
void bind(const Acquisition& of, const Taken& taken) {
  of.services.sessions.bind(*of.order.session, of.who,
                            keep_renewed(of.services.shared_core(), of.order.wanted, taken));
}

void write_down(const Acquisition& of, const TakeResult& result) {
  auto& metrics = of.services.metrics();
  const auto& wanted = of.order.wanted;
  const auto kind = static_cast<std::size_t>(wanted.spec.kind) - 1;
  if (!result) {
    metrics.acquisitions[kind].add(result.error().error.code);
    if (result.error().error.code == Errc::busy) metrics.contention.refused(of.name());
    return;
  }
  metrics.holds.taken(of.name(), wanted.owner.view(), result->fence,
                      of.services.core().runtime().now());
  record(of, {.type = EventType::acquired,
              .fence = result->fence,
              .party = model::party_of(wanted.owner.view()),
              .remaining = result->remaining,
              .waited = waited_in_line(*result)});
  if (of.order.session) bind(of, *result);
}

NotTaken why_stopped(const Acquisition& of, const Wait& wait) {
  if (wait.is_victim) {
    return {Error{Errc::deadlock,
                  fmt::format("'{}' would have been waited for for ever: this wait was ended to "
                              "break a circle of waits",
                              wait.name)}};
  }
  if (of.services.is_draining) {
    return {Error{Errc::unavailable, "the server is shutting down; ask another one"}};
  }
  return {Error{Errc::cancelled, "the caller left"}};
}

Task<Result<void>> check_alive(Services& services, SessionId session) {
  auto asking = ask(services.core(), session.lock, model::Inspect{session.keeper});
  const Result<store::Reply> reply = co_await std::move(asking);
  if (!reply) co_return std::unexpected(reply.error());
  const auto& seen = std::get<model::Seen>(std::get<model::LockOutcome>(reply->outcome));
  if (seen.mine) co_return Result<void>{};
  co_return fail(Errc::not_held,
                 "session: there is no such session, or it was not kept alive in time");
}

// A repeated request is told what is left of the first one, whatever it asks for itself.
Task<Result<void>> check_permits(Services& services, client::Wanted wanted, Fence fence) {
  auto asking = ask(services.core(), wanted.name, model::Inspect{wanted.owner});
  const Result<store::Reply> reply = co_await std::move(asking);
  if (!reply) co_return std::unexpected(reply.error());
  const auto& seen = std::get<model::Seen>(std::get<model::LockOutcome>(reply->outcome));
  for (const auto& holder : seen.lock.holders) {
    if (holder.fence != fence || holder.permits == wanted.permits) continue;
    co_return fail(Errc::bad_input,
                   "request: this key was used for another mode or number of permits");
  }
  co_return Result<void>{};
}

Task<TakeResult> wait_for(const Acquisition& of, WaitingRoom::Ticket ticket, std::stop_token stop) {
  const auto wait = ticket.wait();
  const std::stop_callback client_left(stop, [wait] { wait->stop.request_stop(); });
  const auto began = of.services.core().runtime().now();
  client::Wanted wanted = of.order.wanted;
  bool was_queued = false;
  wanted.on_queued = [&] {
    was_queued = true;
    record(of, {.type = EventType::queued, .party = wait->party});
  };
  auto taking = take_waiting(of.core, std::move(wanted), wait->stop.get_token());
  TakeResult result = co_await std::move(taking);
  const auto waited = std::chrono::floor<Micros>(of.services.core().runtime().now() - began);
  if (was_queued) of.services.metrics().contention.waited(wait->name, waited);
  if (wait->stop.stop_requested()) {
    // A grant that came at the same moment is nobody's any more.
    if (result) give_back(of.core, held(of.order.wanted, *result));
    result = std::unexpected(why_stopped(of, *wait));
  }
  if (result) of.services.metrics().wait_time.add(waited);
  if (!result && was_queued) {
    record(of, {.type = EventType::left, .party = wait->party, .waited = waited});
  }
  co_return result;
}

}  // namespace

bool can_be_mistaken(const client::Wanted& wanted) {
  const auto kind = wanted.spec.kind;
  return wanted.is_shared && (kind == Kind::read_write || kind == Kind::semaphore);
}

TakeResult acquire_now(const Acquisition& acquisition) {
  auto result = take_now(*acquisition.core, acquisition.order.wanted);
  write_down(acquisition, result);
  return result;
}

Task<TakeResult> acquire(Acquisition acquisition, std::stop_token stop) {
  auto& services = acquisition.services;
  const auto& wanted = acquisition.order.wanted;
  if (acquisition.order.session) {
    const auto may = services.sessions.may_bind(*acquisition.order.session);
    if (!may) co_return std::unexpected(NotTaken{may.error()});
    auto checking = check_alive(services, *acquisition.order.session);
    const Result<void> lives = co_await std::move(checking);
    if (!lives) co_return std::unexpected(NotTaken{lives.error()});
  }
  TakeResult result = std::unexpected(NotTaken{});
  if (wanted.wait == Micros::zero()) {
    auto taking = take_at_once(acquisition.core, wanted, std::move(stop));
    result = co_await std::move(taking);
  } else {
    auto ticket = services.waiting.enter(acquisition.name(), model::party_of(wanted.owner.view()));
    if (!ticket) co_return std::unexpected(NotTaken{ticket.error()});
    auto waiting = wait_for(acquisition, std::move(*ticket), std::move(stop));
    result = co_await std::move(waiting);
    if (result && acquisition.order.session) {
      // It may have ended meanwhile: its leases are gone, and this one would go as well while the
      // caller relies on it.
      auto checking = check_alive(services, *acquisition.order.session);
      const Result<void> lives = co_await std::move(checking);
      if (!lives) {
        client::Wanted unwanted = held(wanted, *result);
        // Nobody of a session that is gone can have it by another attempt.
        if (lives.error().code == Errc::not_held) unwanted.is_shared = false;
        give_back(acquisition.core, unwanted);
        result = std::unexpected(NotTaken{lives.error()});
      }
    }
  }
  if (result && can_be_mistaken(wanted)) {
    auto checking = check_permits(services, wanted, result->fence);
    const Result<void> is_same = co_await std::move(checking);
    if (!is_same) result = std::unexpected(NotTaken{is_same.error()});
  }
  write_down(acquisition, result);
  co_return result;
}

}  // namespace holdfast::server
