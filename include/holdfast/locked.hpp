// SPDX-License-Identifier: Apache-2.0
//
// A callable that runs under a lock whose name is made of its arguments:
//
//   auto charge = holdfast::locked(client, "order:{}", {.ttl = 30s, .wait = 5s},
//                                  [&](OrderId id, const holdfast::Lease& lease) {
//     return bank.charge(id, lease.fence());
//   });
//   holdfast::Result<Receipt> receipt = charge(id);
//
// The lock is a mutex. It is given back when the callable returns, fails or throws; an exception
// goes on to the caller. Nothing ever runs without the lock: where it cannot be had, or the name is
// a bad one, the callable is not called. What the callable returns stands, even if the lease was
// lost meanwhile: long work watches lease.lost(), and a resource that must not be written by two
// checks lease.fence().
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/locked_call.hpp>
#include <holdfast/locked_name.hpp>
#include <holdfast/locked_options.hpp>

#include <array>
#include <concepts>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast {

// A name with places for arguments: "order:{}", "{0}/{2}". The compiler looks whether the callable
// has these arguments and they can be text; those of a generic callable are looked at in each call.
template <typename Known>
class NamePattern {
 public:
  template <std::convertible_to<std::string_view> Text>
  consteval NamePattern(const Text& text) : text_(text) {  // NOLINT(google-explicit-constructor)
    detail::read_pattern(
        text_, [](std::string_view) {},
        [](std::size_t place) {
          if constexpr (Known::known) {
            if (place >= Known::count) {
              detail::a_name_pattern_asks_for_an_argument_that_is_not_there();
            }
            if (!Known::can_be_named[place]) {
              detail::a_name_pattern_asks_for_an_argument_that_has_no_text();
            }
          }
        });
  }

  template <typename... Args>
  Result<std::string> operator()(const Args&... args) const {
    const std::array<detail::NameArgument, sizeof...(Args)> arguments{
        detail::name_argument(args)...};
    return detail::fill_pattern(text_, arguments);
  }

 private:
  std::string_view text_;  // of the program itself: only a constant gets here
};

// The callable takes the arguments, and after them a `const Lease&` if it wants to. A member
// function takes its object first: "{1}" is then its first argument.
template <typename Work, typename Policy = ReturnError>
auto locked(const Client& client,
            std::type_identity_t<NamePattern<detail::ParametersOf<std::decay_t<Work>>>> name,
            const LockedOptions& options, Work&& work, Policy policy = {},
            std::source_location where = std::source_location::current()) {
  using Key = NamePattern<detail::ParametersOf<std::decay_t<Work>>>;
  return Locked<Key, std::decay_t<Work>, Policy>(client, name, options, std::forward<Work>(work),
                                                 std::move(policy), where);
}

// The name is what `key(arguments…)` returns: a text, or a Result of one.
template <typename Key, typename Work, typename Policy = ReturnError>
  requires(!std::convertible_to<Key, std::string_view>)
auto locked(const Client& client, Key&& key, const LockedOptions& options, Work&& work,
            Policy policy = {}, std::source_location where = std::source_location::current()) {
  return Locked<std::decay_t<Key>, std::decay_t<Work>, Policy>(
      client, std::forward<Key>(key), options, std::forward<Work>(work), std::move(policy), where);
}

}  // namespace holdfast
