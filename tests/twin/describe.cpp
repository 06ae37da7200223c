// SPDX-License-Identifier: Apache-2.0
#include "describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace holdfast::test {

namespace {

using std::to_underlying;

std::string shortened(std::string_view text) {
  constexpr std::size_t most = 24;
  if (text.size() <= most) return fmt::format("\"{}\"", text);
  return fmt::format("\"{}...\"({} bytes)", text.substr(0, most), text.size());
}

std::string text_of(const model::MetadataPtr& metadata) {
  if (!metadata) return "none";
  std::string text = fmt::format("{}/{}/{}", shortened(metadata->source), shortened(metadata->note),
                                 shortened(metadata->value));
  if (const auto& process = metadata->process) {
    text += fmt::format("@{}/{}/{}/{}", process->host, process->program, process->pid,
                        process->started_ms);
  }
  return text;
}

std::string text_of(const model::LockSpec& spec) {
  return fmt::format("kind {} order {} capacity {}", to_underlying(spec.kind),
                     to_underlying(spec.order), spec.capacity);
}

std::string text_of(const HolderView& holder) {
  return fmt::format("[fence {} permits {}{} left {} held {} metadata {}]", holder.fence,
                     holder.permits, holder.claimed ? " claimed" : "", holder.remaining.count(),
                     holder.held_for.count(), text_of(holder.metadata));
}

std::string text_of(const WaiterView& waiter) {
  return fmt::format("[party {:x} permits {} waits {} metadata {}]", waiter.party, waiter.permits,
                     waiter.waiting_for.count(), text_of(waiter.metadata));
}

template <typename Views>
std::vector<std::string> texts_of(const Views& views) {
  std::vector<std::string> texts;
  texts.reserve(views.size());
  for (const auto& view : views) texts.push_back(text_of(view));
  return texts;
}

std::string sorted_text_of(const std::vector<HolderView>& holders) {
  auto texts = texts_of(holders);
  std::ranges::sort(texts);
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string text_of(const model::Acquire& verb) {
  return fmt::format(
      "acquire {} request {} permits {} ttl {}{} place {} claim {} converts {} known {} process "
      "{:x} metadata {}",
      shortened(verb.owner.view()), to_underlying(verb.request), verb.permits, verb.ttl.count(),
      verb.wait ? " wait" : "", verb.place, verb.claim.count(), to_underlying(verb.converts),
      verb.known, to_underlying(verb.process), text_of(verb.metadata));
}
std::string text_of(const model::Renew& verb) {
  return fmt::format("renew {} request {} ttl {} fence {}{}", shortened(verb.owner.view()),
                     to_underlying(verb.request), verb.ttl.count(), verb.fence,
                     verb.reserve ? " reserve" : "");
}
std::string text_of(const model::Release& verb) {
  return fmt::format("release {} request {} up to {}{}", shortened(verb.owner.view()),
                     to_underlying(verb.request), verb.up_to,
                     verb.only_unconfirmed ? " unconfirmed" : "");
}
std::string text_of(const model::Inspect& verb) {
  return fmt::format("inspect {}", verb.owner ? shortened(verb.owner->view()) : "");
}
std::string text_of(const model::ForceRelease& verb) {
  return fmt::format("force_release up to {}{}{}", verb.up_to,
                     verb.source.empty() ? "" : " of source ", verb.source);
}

std::string text_of(const model::Granted& outcome) {
  return fmt::format("granted fence {} remaining {} held for {}", outcome.fence,
                     outcome.remaining.count(),
                     outcome.held_for ? std::to_string(outcome.held_for->count()) : "?");
}
std::string text_of(const model::Busy& outcome) {
  return fmt::format("busy retry after {} holders {}: {}", outcome.retry_after.count(),
                     outcome.holder_count, sorted_text_of(outcome.holders));
}
std::string text_of(const model::Queued& outcome) {
  return fmt::format("queued place {} ahead {} retry after {}", outcome.place, outcome.ahead,
                     outcome.retry_after.count());
}
std::string text_of(const model::Released& outcome) {
  return outcome.lease ? "released a lease" : "released a place";
}
std::string text_of(const model::NotHeld&) { return "not held"; }
std::string text_of(const model::NotOwner&) { return "not owner"; }
std::string text_of(const model::Forced& outcome) {
  return fmt::format("forced fence {} count {}", outcome.fence, outcome.count);
}
std::string text_of(const model::Seen& outcome) {
  const auto& lock = outcome.lock;
  const std::string mine = outcome.mine ? text_of(*outcome.mine) : "nothing";
  // A name binds its kind only while somebody holds or waits.
  if (lock.holders.empty() && lock.waiters.empty()) return fmt::format("seen free, mine {}", mine);
  return fmt::format("seen {} holders {} waiters {} mine {}",
                     text_of(model::LockSpec{lock.kind, lock.order, lock.capacity}),
                     sorted_text_of(lock.holders), fmt::join(texts_of(lock.waiters), " "), mine);
}
std::string text_of(const model::Refused& outcome) {
  return fmt::format("refused {}: {}", to_string(outcome.error.code), outcome.error.message);
}

}  // namespace

std::string describe(const model::LockCommand& command) {
  return fmt::format("{} as {}",
                     std::visit([](const auto& verb) { return text_of(verb); }, command.verb),
                     text_of(command.spec));
}

std::string describe(const model::LockOutcome& outcome) {
  return std::visit([](const auto& each) { return text_of(each); }, outcome);
}

std::string describe(const model::LockState& state, model::StoreTime now) {
  if (state.idle()) return "  nothing\n";
  std::string text = fmt::format("  {} queue ends in {}\n", text_of(state.spec),
                                 (state.queue_expires - now).count());
  if (state.offer.stands()) {
    text += fmt::format("  place {} is to come within {}\n", state.offer.place,
                        (state.offer.until - now).count());
  }
  for (const auto& hold : state.holds) {
    text += fmt::format(
        "  hold {} request {} process {:x} permits {}{} fence {} left {} held {} metadata {}\n",
        shortened(hold.owner.view()), to_underlying(hold.request), to_underlying(hold.process),
        hold.permits, hold.claimed ? " claimed" : "", hold.fence, (hold.expires - now).count(),
        (now - hold.since).count(), text_of(hold.metadata));
  }
  for (const auto& [place, waiter] : state.queue) {
    text += fmt::format(
        "  waiter {} request {} process {:x} permits {} place {} converts {} waits {} ttl {} "
        "claim {} metadata {}\n",
        shortened(waiter.owner.view()), to_underlying(waiter.request),
        to_underlying(waiter.process), waiter.permits, place, to_underlying(waiter.converts),
        (now - waiter.since).count(), waiter.ttl.count(), waiter.claim.count(),
        text_of(waiter.metadata));
  }
  return text;
}

std::string describe(const std::vector<model::Message>& messages) {
  std::string text;
  for (const auto& message : messages) {
    text += fmt::format("  to {:x}: {} request {}", to_underlying(message.process),
                        shortened(message.owner.view()), to_underlying(message.request));
    if (const auto& grant = message.grant) {
      text += fmt::format(" fence {} at {} lease {}", grant->fence,
                          grant->at.time_since_epoch().count(), grant->lease.count());
    }
    text += '\n';
  }
  return text;
}

}  // namespace holdfast::test
