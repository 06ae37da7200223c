// SPDX-License-Identifier: Apache-2.0
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace holdfast::text {
namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 5> kinds{"mutex", "reentrant", "read_write", "semaphore",
                                                "election"};
constexpr std::array<std::string_view, 3> orders{"automatic", "fifo", "barging"};
constexpr std::array<std::string_view, 5> member_states{"free", "held", "unreachable", "too_slow",
                                                        "refused"};

template <typename E>
std::optional<E> find(const auto& words, std::string_view word, E first) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) return std::nullopt;
  return static_cast<E>(static_cast<int>(first) + (found - words.begin()));
}

}  // namespace

std::string_view to_word(Kind kind) noexcept {
  const auto at = static_cast<std::size_t>(kind) - static_cast<std::size_t>(Kind::mutex);
  assert(at < kinds.size());
  return kinds[at];
}

std::optional<Kind> parse_kind(std::string_view word) noexcept {
  return find(kinds, word, Kind::mutex);
}

std::string_view to_word(Order order) noexcept {
  const auto at = static_cast<std::size_t>(order);
  assert(at < orders.size());
  return orders[at];
}

std::optional<Order> parse_order(std::string_view word) noexcept {
  return find(orders, word, Order::automatic);
}

std::optional<MemberView::State> parse_member_state(std::string_view word) noexcept {
  return find(member_states, word, MemberView::State::free);
}

}  // namespace holdfast::text

namespace holdfast {

std::string_view to_string(MemberView::State state) noexcept {
  const auto at = static_cast<std::size_t>(state);
  assert(at < text::member_states.size());
  return text::member_states[at];
}

}  // namespace holdfast
