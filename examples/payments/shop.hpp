// SPDX-License-Identifier: Apache-2.0
//
// Paying for an order with everything that keeps it from happening twice: idempotency finds
// repeated requests, a lock keeps two payments of one account apart, a constraint is the last net,
// and a fence refuses whoever comes too late.
#pragma once

#include "books.hpp"

#include <functional>

namespace payments {

struct Payment {
  std::string order;
  std::string account;
  std::int64_t amount = 0;
};

// What a customer is told.
struct Told {
  bool ok = false;
  std::string text;
};

// Where a scene may interfere; each may be empty.
struct Interference {
  std::function<void()> after_reading{};  // the balance, under the lock
  std::function<void()> after_booking{};
};

class Shop {
 public:
  Shop(holdfast::Client client, const std::string& books, const Layers& layers)
      : client_(std::move(client)), books_(books, layers), layers_(layers) {}

  Told pay(const Payment& payment, const Interference& interference = {});

 private:
  holdfast::Result<holdfast::Answer> charge(const Payment& payment, holdfast::Fence run_fence,
                                            const Interference& interference);
  holdfast::Result<Booked> charge_once(const Payment& payment, holdfast::Fence run_fence,
                                       const Interference& interference);

  holdfast::Client client_;
  Books books_;
  Layers layers_;
};

}  // namespace payments
