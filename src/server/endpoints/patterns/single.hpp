// SPDX-License-Identifier: Apache-2.0
//
// The six patterns that need one store.
#pragma once

#include "server/endpoints/patterns/order.hpp"
#include "server/http/answer.hpp"
#include "server/locks/waiting_room.hpp"

#include <memory>
#include <optional>
#include <stop_token>

namespace holdfast::server::patterns {

// Everything that is needed once the request is gone.
struct Job {
  Services& services;
  Who who;
  PatternOrder order;
  std::stop_token stop;
  std::optional<WaitingRoom::Ticket> place{};  // while it waits
  std::shared_ptr<Effect> effect{};            // told when the operation has ended, unless null
};

// Tells it. What ended without the lock may have met another.
void tell_effect(const Job& job, Effect effect, bool were_ours);

// Takes the lock, performs the operation and gives the lock back, whatever became of it.
Task<Response> run_single(Job job);

}  // namespace holdfast::server::patterns
