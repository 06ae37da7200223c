// SPDX-License-Identifier: Apache-2.0
#include "guard/pool.hpp"

#include <algorithm>

namespace holdfast::guard {

namespace {
// Fine enough for time-outs of seconds, and no request needs a timer of its own.
constexpr auto tick_interval = std::chrono::milliseconds(50);
}  // namespace

Pool::Pool(boost::asio::io_context& context, const net::http::Origin& origin)
    : context_(context), origin_(origin), timer_(context) {}

// What the loop still has in its hands outlives the pool.
Pool::~Pool() {
  close();
  while (!all_.empty()) {
    all_.front().forget_pool();
    all_.pop_front();
  }
}

std::shared_ptr<Wire> Pool::take() {
  if (idle_.empty()) return nullptr;
  auto wire = std::move(idle_.back());
  idle_.pop_back();
  wire->is_resting = false;
  return wire;
}

std::shared_ptr<Wire> Pool::make() { return std::make_shared<Wire>(*this, context_, origin_); }

void Pool::give_back(std::shared_ptr<Wire> wire) {
  if (idle_.size() >= max_idle_upstreams || is_closed_) return wire->close();
  wire->deadline = runtime::LocalClock::now() + upstream_idle_timeout;
  idle_.push_back(std::move(wire));
  idle_.back()->rest();
}

void Pool::drop(Wire& wire) {
  const auto found = std::ranges::find(idle_, &wire, &std::shared_ptr<Wire>::get);
  if (found == idle_.end()) return;
  const auto kept = std::move(*found);
  idle_.erase(found);
  kept->is_resting = false;
  kept->close();
}

void Pool::close() {
  is_closed_ = true;
  timer_.cancel();
  while (const auto wire = take()) wire->close();
  // What is under way is cut off, before another guard takes over.
  std::vector<std::shared_ptr<Wire>> under_way;
  for (Wire& each : all_) under_way.push_back(each.shared_from_this());
  for (const auto& each : under_way) each->expire();
}

void Pool::joined(Wire& wire) {
  all_.push_back(wire);
  if (!is_ticking_) tick();
}

void Pool::left(Wire& wire) { all_.erase(all_.iterator_to(wire)); }

void Pool::tick() {
  is_ticking_ = !all_.empty() && !is_closed_;
  if (!is_ticking_) return;
  timer_.expires_after(tick_interval);
  timer_.async_wait([this](boost::system::error_code stopped) {
    if (stopped) return;
    const auto now = runtime::LocalClock::now();
    // Ending one may end others, so they are found first.
    std::vector<std::shared_ptr<Wire>> late;
    for (Wire& each : all_) {
      if (each.deadline <= now) late.push_back(each.shared_from_this());
    }
    for (const auto& each : late) each->expire();
    tick();
  });
}

}  // namespace holdfast::guard
