// SPDX-License-Identifier: Apache-2.0
#include "forrst/locks.hpp"

#include "forrst/leash.hpp"
#include "runtime/uuid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;
using std::chrono::system_clock;

// "5 seconds", and as the protocol has it, "1 seconds" too.
std::string waited_text(Duration block, const json::object& written) {
  const auto* unit = written.if_contains("unit");
  const std::string_view word = unit != nullptr ? std::string_view(unit->get_string()) : "second";
  const Duration one = word == "minute" ? std::chrono::minutes(1)
                       : word == "hour" ? std::chrono::hours(1)
                       : word == "day"  ? Duration(std::chrono::days(1))
                                        : Duration(std::chrono::seconds(1));
  return fmt::format("{} {}s", block / one, word);
}

}  // namespace

Fault fault_of(Host& host, const Error& error, std::string_view what) {
  switch (error.code) {
    case Errc::unsupported: return make_fault(codes::extension_not_applicable, error.message);
    case Errc::bad_input: return make_fault(codes::invalid_arguments, error.message);
    case Errc::spec_mismatch:
      return make_fault(codes::conflict, "The name is in use as another kind of lock");
    case Errc::limit_reached: return make_fault(codes::unavailable, error.message);
    case Errc::cancelled:
      if (!host.is_draining()) return make_fault("CANCELLED", "The caller left");
      break;
    default: break;
  }
  if (host.is_draining()) return make_fault(codes::unavailable, "The server is shutting down");
  host.complain(what, error.message);
  return make_fault(codes::unavailable,
                    "The lock store did not answer as it should; try again later");
}

Locks::Locks(std::shared_ptr<client::Core> core, std::shared_ptr<Host> host,
             const ServiceOptions& options)
    : core_(std::move(core)),
      host_(std::move(host)),
      prefix_(options.prefix),
      show_owner_(options.status_owner),
      by_hand_(options.remember_released, options.max_remembered),
      by_itself_(options.remember_released, options.max_remembered) {}

client::Wanted Locks::wanted_for(const Turn& turn, const LockOrder& order) const {
  auto metadata = std::make_shared<Metadata>();
  metadata->source = turn.envelope.function;
  metadata->note = "forrst " + turn.envelope.id;
  const auto owner = order.owner.empty() ? runtime::fresh_uuid(core_->runtime()) : order.owner;
  return {.name = LockName::make(order.full_key).value(),
          .spec = model::LockSpec::mutex(),
          .owner = OwnerId::make(owner).value(),
          .request = core_->fresh_request(),
          .ttl = order.ttl,
          .metadata = std::move(metadata)};
}

Fault Locks::not_taken(const LockOrder& order, const client::NotTaken& why, bool was_cut) const {
  switch (why.error.code) {
    case Errc::busy:
      return make_fault(codes::lock_acquisition_failed, "Unable to acquire lock", order.details());
    case Errc::deadlock: {
      auto details = order.details();
      details["reason"] = "deadlock";
      return make_fault(codes::lock_acquisition_failed, "Unable to acquire lock",
                        std::move(details));
    }
    case Errc::timed_out: {
      auto details = order.details();
      if (was_cut) {
        return make_fault(codes::deadline_exceeded,
                          "The deadline passed while the lock was waited for", std::move(details));
      }
      if (!order.block) break;
      details["waited"] = order.block_text;
      return make_fault(codes::lock_timeout,
                        fmt::format("Lock acquisition timed out after {}",
                                    waited_text(*order.block, order.block_text)),
                        std::move(details));
    }
    default: break;
  }
  return fault_of(*host_, why.error, "acquire");
}

Task<std::expected<Locks::Granted, Fault>> Locks::take(const Turn& turn, LockOrder order,
                                                       std::stop_token stop) {
  using Taking = std::expected<Granted, Fault>;
  if (!turn.may(Caller::Right::lock, order.full_key)) {
    co_return Taking(
        std::unexpect,
        make_fault(codes::forbidden, "Your token does not cover this lock", order.details()));
  }
  client::Wanted wanted = wanted_for(turn, order);
  const LocalTime give_up_at = turn.give_up_at();
  bool is_cut = false;
  if (order.block) {
    const Micros left = give_up_at == LocalTime::max()
                            ? *order.block
                            : std::chrono::floor<Micros>(give_up_at - now());
    is_cut = left < Micros(*order.block);
    if (left <= Micros::zero()) {
      const client::NotTaken late{{Errc::timed_out, "the deadline passed"}};
      co_return Taking(std::unexpect, not_taken(order, late, true));
    }
    wanted.wait = std::min(left, Micros(*order.block));
  }
  std::optional<FirstStop> ends;
  if (order.block) {
    ends.emplace();
    ends->add(std::move(stop));
    ends->add(host_->draining());
    stop = ends->token();
  }
  auto taking = host_->take(core_, turn.caller, wanted, std::move(stop));
  const client::TakeResult taken = co_await std::move(taking);
  if (!taken) co_return Taking(std::unexpect, not_taken(order, taken.error(), is_cut));
  if (!order.owner.empty()) {
    by_hand_.forget(order.full_key, order.owner);
    by_itself_.forget(order.full_key, order.owner);
  }
  co_return Granted{client::held(std::move(wanted), *taken), *taken};
}

json::object Locks::data_of(const LockOrder& order, const Granted& granted, Micros remaining) {
  return {{"key", order.key},
          {"acquired", true},
          {"owner", granted.wanted.owner.view()},
          {"scope", order.scope()},
          {"expires_at", time_text(system_clock::now() + remaining)},
          {"fence", granted.taken.fence}};
}

std::shared_ptr<client::HeldLease> Locks::keep(const Granted& granted) const {
  return client::keep_renewed(core_, granted.wanted, granted.taken);
}

Task<bool> Locks::give_back(const Turn& turn, Granted granted,
                            std::shared_ptr<client::HeldLease> lease) {
  const bool is_valid = lease->remaining() > Micros::zero();
  auto releasing = lease->release();
  const Result<Released> released = co_await std::move(releasing);
  if (!released) {
    host_->complain("release", released.error().message);
    drop(granted.wanted);
  }
  // No answer: it was valid by our clock, and ends by itself.
  const bool was_ours = is_valid && (!released || *released == Released::released);
  const auto& wanted = granted.wanted;
  if (was_ours) by_itself_.remember(wanted.name.str(), wanted.owner.view(), now());
  host_->ended(turn.caller, wanted, granted.taken.fence,
               was_ours ? LockEnd::released : LockEnd::lost);
  co_return was_ours;
}

}  // namespace holdfast::forrst
