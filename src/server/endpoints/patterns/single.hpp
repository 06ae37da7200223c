// SPDX-License-Identifier: Apache-2.0
//
// The six patterns that need one store.
#pragma once

#include "server/endpoints/patterns/order.hpp"
#include "server/http/answer.hpp"
#include "server/locks/waiting_room.hpp"

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
};

// Takes the lock, performs the operation and gives the lock back, whatever became of it.
Task<Response> run_single(Job job);

}  // namespace holdfast::server::patterns
