// SPDX-License-Identifier: Apache-2.0
#include "model/lock_state.hpp"

namespace holdfast::model {

LockSpec LockSpec::mutex(Order order) { return {Kind::mutex, order, all_permits}; }
LockSpec LockSpec::reentrant(Order order) { return {Kind::reentrant, order, 1}; }
LockSpec LockSpec::read_write(Order order) { return {Kind::read_write, order, all_permits}; }
LockSpec LockSpec::semaphore(std::uint32_t permits, Order order) {
  return {Kind::semaphore, order, permits};
}
LockSpec LockSpec::election() { return {Kind::election, Order::automatic, 1}; }

namespace {

Kind family(Kind kind) { return kind == Kind::read_write ? Kind::mutex : kind; }

}  // namespace

bool agree(const LockSpec& bound, const LockSpec& wanted) {
  const bool orders_agree = wanted.order == Order::automatic || wanted.order == bound.order;
  return family(bound.kind) == family(wanted.kind) && bound.capacity == wanted.capacity &&
         orders_agree;
}

}  // namespace holdfast::model
