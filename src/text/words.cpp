// SPDX-License-Identifier: Apache-2.0
#include "text/words.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace holdfast::text {
namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 5> kinds{"mutex", "reentrant", "read_write", "semaphore",
                                                "election"};
constexpr std::array<std::string_view, 3> orders{"automatic", "fifo", "barging"};
constexpr std::array<std::string_view, 5> member_states{"free", "held", "unreachable", "too_slow",
                                                        "refused"};
constexpr std::array<std::string_view, 3> rate_algorithms{"fixed_window", "sliding_window",
                                                          "token_bucket"};
constexpr std::array<std::string_view, 3> rate_layouts{"native", "n8n", "redisx"};

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

std::optional<RateAlgorithm> parse_rate_algorithm(std::string_view word) noexcept {
  return find(rate_algorithms, word, RateAlgorithm::fixed_window);
}

std::optional<RateLayout> parse_rate_layout(std::string_view word) noexcept {
  return find(rate_layouts, word, RateLayout::native);
}

}  // namespace holdfast::text

namespace holdfast {

std::string_view to_string(MemberView::State state) noexcept {
  const auto at = static_cast<std::size_t>(state);
  assert(at < text::member_states.size());
  return text::member_states[at];
}

std::string_view to_string(RateAlgorithm algorithm) noexcept {
  const auto at =
      static_cast<std::size_t>(algorithm) - static_cast<std::size_t>(RateAlgorithm::fixed_window);
  assert(at < text::rate_algorithms.size());
  return text::rate_algorithms[at];
}

std::string_view to_string(RateLayout layout) noexcept {
  const auto at = static_cast<std::size_t>(layout);
  assert(at < text::rate_layouts.size());
  return text::rate_layouts[at];
}

std::string_view to_string(RunFound found) noexcept {
  switch (found) {
    case RunFound::nothing: return "nothing";
    case RunFound::abandoned: return "abandoned";
    case RunFound::in_progress: return "in_progress";
    case RunFound::completed: return "completed";
    case RunFound::failed: return "failed";
    case RunFound::mismatch: return "mismatch";
  }
  std::unreachable();
}

}  // namespace holdfast
