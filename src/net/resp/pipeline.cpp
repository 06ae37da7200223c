// SPDX-License-Identifier: Apache-2.0
#include "net/resp/pipeline.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace holdfast::net::resp {

void Pipeline::add(Call& call) {
  call.ticket = ++last_ticket_;
  waiting_.push_back(&call);
}

std::optional<Pipeline::Batch> Pipeline::take(runtime::LocalTime now) {
  if (is_writing_ || waiting_.empty()) return std::nullopt;
  Batch batch{.bytes = std::exchange(spare_, {}), .line = line_};
  for (Call* call : waiting_) {
    in_flight_.push_back({call, call->ticket, taken_ + batch.bytes.size(), now, call->replies});
    batch.bytes += call->bytes;
  }
  waiting_.clear();
  taken_ += batch.bytes.size();
  may_be_out_ = taken_;
  is_writing_ = true;
  return batch;
}

bool Pipeline::wrote(Batch& batch, std::size_t bytes) {
  batch.gone += bytes;
  return batch.line == line_;
}

void Pipeline::finish(Batch batch) {
  if (batch.line != line_) return;
  is_writing_ = false;
  constexpr std::size_t most_kept = std::size_t{1} << 20;
  if (batch.bytes.capacity() > most_kept) return;
  spare_ = std::move(batch.bytes);
  spare_.clear();
}

void Pipeline::park(Batch batch) {
  if (batch.line != line_) return;
  may_be_out_ = taken_ - batch.rest().size();
  parked_ = std::move(batch);
}

std::optional<Pipeline::Batch> Pipeline::take_up() {
  if (parked_) may_be_out_ = taken_;
  return std::exchange(parked_, std::nullopt);
}

Pipeline::Match Pipeline::match() {
  if (in_flight_.empty()) return {};
  Place& first = in_flight_.front();
  if (--first.replies > 0) return {.is_expected = true};
  Call* const call = first.call;
  in_flight_.pop_front();
  return {.is_expected = true, .call = call};
}

Pipeline::GivenUp Pipeline::give_up(std::uint64_t ticket) {
  const auto waits = std::ranges::lower_bound(waiting_, ticket, {}, &Call::ticket);
  if (waits != waiting_.end() && (*waits)->ticket == ticket) {
    Call* const call = *waits;
    waiting_.erase(waits);
    return {.call = call};
  }
  const auto place = std::ranges::lower_bound(in_flight_, ticket, {}, &Place::ticket);
  if (place == in_flight_.end() || place->ticket != ticket) return {};
  return {.call = std::exchange(place->call, nullptr), .may_have_happened = true};
}

Pipeline::Overdue Pipeline::overdue(runtime::LocalTime now) const {
  Overdue found;
  const auto look_at = [&](const Call* call) {
    if (!call || call->timer != runtime::TimerId::none) return;
    if (call->deadline <= now)
      found.tickets.push_back(call->ticket);
    else
      found.next = std::min(found.next, call->deadline);
  };
  for (const Place& place : in_flight_) look_at(place.call);
  for (const Call* call : waiting_) look_at(call);
  return found;
}

std::optional<runtime::LocalTime> Pipeline::oldest() const {
  if (in_flight_.empty()) return std::nullopt;
  return in_flight_.front().since;
}

std::vector<Call*> Pipeline::lose_line() {
  std::vector<Call*> may_have_happened;
  std::deque<Call*> again;
  for (const Place& place : in_flight_) {
    if (!place.call) continue;
    if (place.begin < may_be_out_)
      may_have_happened.push_back(place.call);
    else
      again.push_back(place.call);
  }
  waiting_.insert(waiting_.begin(), again.begin(), again.end());
  in_flight_.clear();
  parked_.reset();
  is_writing_ = false;
  taken_ = may_be_out_ = 0;
  ++line_;
  return may_have_happened;
}

std::vector<Call*> Pipeline::turn_away() {
  std::vector<Call*> unfit;
  std::ranges::copy_if(waiting_, std::back_inserter(unfit), &Call::only_if_prepared);
  if (!unfit.empty()) std::erase_if(waiting_, std::mem_fn(&Call::only_if_prepared));
  return unfit;
}

std::vector<Call*> Pipeline::drain() {
  std::vector<Call*> all(waiting_.begin(), waiting_.end());
  waiting_.clear();
  return all;
}

}  // namespace holdfast::net::resp
