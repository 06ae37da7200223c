// SPDX-License-Identifier: Apache-2.0
#include "cli/lock_choice.hpp"

#include "text/quote.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <charconv>

namespace holdfast::cli {
namespace {

// The place in our sources where every command acquires says nothing to an operator.
constexpr std::source_location nowhere{};

bool read_number(std::string_view text, std::uint32_t& number) {
  const auto* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && stopped == end && number > 0;
}

}  // namespace

Result<Permits> parse_permits(std::string_view text) {
  const auto slash = text.find('/');
  Permits permits;
  if (slash != std::string_view::npos && read_number(text.substr(0, slash), permits.wanted) &&
      read_number(text.substr(slash + 1), permits.capacity) && permits.wanted <= permits.capacity &&
      permits.capacity < all_permits) {
    return permits;
  }
  return fail(Errc::bad_input, fmt::format("permits {} must have the form N/M, such as 1/5: N of "
                                           "the M that there are",
                                           text::quoted(text)));
}

void add_lock_choice(Syntax& syntax, LockChoice& choice) {
  auto& shared = syntax.flag("--shared", &choice.shared,
                             "Share the lock with others who say --shared; those who do not wait "
                             "until all of them are done");
  auto& reentrant = syntax.flag("--reentrant", &choice.reentrant,
                                "Let the owner in HOLDFAST_OWNER take the lock again, so that a "
                                "command under the lock can call holdfast on the same name");
  const auto read_permits = [&choice](const std::string& text) -> Result<void> {
    const auto permits = parse_permits(text);
    if (!permits) return std::unexpected(permits.error());
    choice.permits = *permits;
    return {};
  };
  auto& permits = syntax.option(
      "--permits", read_permits, "N/M",
      "Take N of M permits: at most M are out at once. Everybody must say the same M");
  shared.excludes(reentrant).excludes(permits);
  reentrant.excludes(permits);
  const auto read_order = [&choice](const std::string& word) -> Result<void> {
    const auto order = text::parse_order(word);
    if (!order) {
      return fail(Errc::bad_input, text::quoted(word) + " must be automatic, fifo or barging");
    }
    choice.order = *order;
    return {};
  };
  syntax.option("--order", read_order, "automatic|fifo|barging",
                "Who comes first: fifo (in the order of asking), barging (whoever comes at the "
                "right moment), or automatic (fifo where the store can)");
}

Result<Lease> acquire_chosen(const Client& client, const LockChoice& choice, std::string_view name,
                             AcquireOptions options, std::stop_token stop) {
  if (choice.shared) {
    auto lock = client.read_write(name, choice.order);
    return lock.acquire_shared(options, std::move(stop), nowhere);
  }
  if (choice.permits) {
    options.permits = choice.permits->wanted;
    auto lock = client.semaphore(name, choice.permits->capacity, choice.order);
    return lock.acquire(options, std::move(stop), nowhere);
  }
  if (choice.reentrant) {
    return client.reentrant(name, choice.order).acquire(options, std::move(stop), nowhere);
  }
  return client.mutex(name, choice.order).acquire(options, std::move(stop), nowhere);
}

}  // namespace holdfast::cli
