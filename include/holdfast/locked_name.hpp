// SPDX-License-Identifier: Apache-2.0
//
// How holdfast/locked.hpp makes the name of a lock from the arguments of a call.
//
// An argument becomes text if it is a text, a number without a fraction, a bool, an optional of
// these, has a `to_string` beside its type, or is an enumeration (its number, if there is no
// `to_string`).
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/lease.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace holdfast::detail {

// What an argument gives to a name; nothing where it is missing or empty.
using NamePart = std::optional<std::string>;

template <typename T>
concept TextLike = std::convertible_to<const T&, std::string_view>;

template <typename T>
concept HasToString = requires(const T& value) {
  { to_string(value) } -> std::convertible_to<std::string>;
} || requires(const T& value) {
  { to_string(value) } -> std::convertible_to<std::string_view>;
};

template <typename T>
struct OptionalOf : std::false_type {};
template <typename T>
struct OptionalOf<std::optional<T>> : std::true_type {
  using Value = T;
};

// Not a wide character: it is a number to the language, and a letter to whoever wrote it.
template <typename T>
concept WholeNumber = std::integral<T> && !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                      !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

template <typename T>
consteval bool is_nameable() {
  if constexpr (OptionalOf<T>::value) {
    return is_nameable<std::remove_cv_t<typename OptionalOf<T>::Value>>();
  } else {
    return TextLike<T> || WholeNumber<T> || HasToString<T> || std::is_enum_v<T>;
  }
}

template <typename T>
inline constexpr bool nameable = is_nameable<std::remove_cvref_t<T>>();

inline NamePart not_empty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

template <WholeNumber Number>
std::string digits_of(Number number) {
  std::array<char, 24> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return std::string(text.data(), end);
}

template <typename T>
NamePart part_of(const T& value) {
  if constexpr (OptionalOf<T>::value) {
    return value ? part_of(*value) : std::nullopt;
  } else if constexpr (std::is_pointer_v<T>) {
    return value == nullptr ? std::nullopt : not_empty(std::string(std::string_view(value)));
  } else if constexpr (TextLike<T>) {
    return not_empty(std::string(static_cast<std::string_view>(value)));
  } else if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::same_as<T, char>) {
    return std::string(1, value);
  } else if constexpr (WholeNumber<T>) {
    return digits_of(value);
  } else if constexpr (HasToString<T>) {
    return not_empty(std::string(to_string(value)));
  } else {
    return digits_of(static_cast<std::underlying_type_t<T>>(value));
  }
}

// An argument that a pattern may ask for.
struct NameArgument {
  bool nameable = false;
  NamePart text{};
};

template <typename T>
NameArgument name_argument(const T& value) {
  if constexpr (nameable<T>) {
    return {true, part_of(value)};
  } else {
    return {};
  }
}

// Errors: bad_input, naming the argument that is not there, is empty or has no text.
Result<std::string> fill_pattern(std::string_view pattern, std::span<const NameArgument> arguments);

// What is known of a callable's parameters, without a Lease at the end.
struct AnyParameters {
  static constexpr bool known = false;
};
template <typename... P>
struct Parameters {
  static constexpr bool known = true;
  static constexpr std::size_t count = sizeof...(P);
  static constexpr std::array<bool, sizeof...(P)> can_be_named{nameable<P>...};
};
// Of a member function: the object comes before them, and is no part of a name.
template <typename... P>
struct MemberParameters {
  static constexpr bool known = true;
  static constexpr std::size_t count = 1 + sizeof...(P);
  static constexpr std::array<bool, 1 + sizeof...(P)> can_be_named{false, nameable<P>...};
};

template <template <typename...> typename List, typename Tuple, typename Indices>
struct Firsts;
template <template <typename...> typename List, typename... P, std::size_t... I>
struct Firsts<List, std::tuple<P...>, std::index_sequence<I...>> {
  using Type = List<std::tuple_element_t<I, std::tuple<P...>>...>;
};

template <typename... P>
consteval std::size_t count_without_lease() {
  if constexpr (sizeof...(P) == 0) {
    return 0;
  } else {
    using Last = std::tuple_element_t<sizeof...(P) - 1, std::tuple<P...>>;
    return sizeof...(P) - (std::is_same_v<std::remove_cvref_t<Last>, Lease> ? 1 : 0);
  }
}

template <template <typename...> typename List, typename... P>
using WithoutLease = typename Firsts<List, std::tuple<P...>,
                                     std::make_index_sequence<count_without_lease<P...>()>>::Type;

template <template <typename...> typename List, typename R, typename C, typename... P>
WithoutLease<List, P...> parameters_of_member(R (C::*)(P...));
template <template <typename...> typename List, typename R, typename C, typename... P>
WithoutLease<List, P...> parameters_of_member(R (C::*)(P...) const);
template <template <typename...> typename List, typename R, typename C, typename... P>
WithoutLease<List, P...> parameters_of_member(R (C::*)(P...) noexcept);
template <template <typename...> typename List, typename R, typename C, typename... P>
WithoutLease<List, P...> parameters_of_member(R (C::*)(P...) const noexcept);

template <typename R, typename... P>
WithoutLease<Parameters, P...> parameters_of_function(R (*)(P...));

template <typename Work>
auto find_parameters() {
  if constexpr (requires(Work work) { parameters_of_function(work); }) {
    return std::type_identity<decltype(parameters_of_function(std::declval<Work>()))>();
  } else if constexpr (requires(Work work) { parameters_of_member<MemberParameters>(work); }) {
    return std::type_identity<decltype(parameters_of_member<MemberParameters>(
        std::declval<Work>()))>();
  } else if constexpr (requires { parameters_of_member<Parameters>(&Work::operator()); }) {
    return std::type_identity<decltype(parameters_of_member<Parameters>(&Work::operator()))>();
  } else {
    return std::type_identity<AnyParameters>();
  }
}

template <typename Work>
using ParametersOf = typename decltype(find_parameters<Work>())::type;

// Not constexpr: calling one of them is what the compiler complains of, by its name.
[[noreturn]] void a_name_pattern_has_a_brace_without_its_partner();
[[noreturn]] void a_name_pattern_has_only_places_like_these___or_0();
[[noreturn]] void a_name_pattern_is_either_numbered_or_not();
[[noreturn]] void a_name_pattern_asks_for_an_argument_that_is_not_there();
[[noreturn]] void a_name_pattern_asks_for_an_argument_that_has_no_text();

// Reads a pattern, and calls `text(std::string_view)` and `place(std::size_t)` in turn. "{}" is the
// next argument, "{2}" the third, "{{" and "}}" are braces.
template <typename Text, typename Place>
constexpr void read_pattern(std::string_view pattern, Text text, Place place) {
  std::size_t next = 0;
  bool has_numbers = false;
  while (!pattern.empty()) {
    const auto brace = std::min(pattern.find_first_of("{}"), pattern.size());
    if (brace > 0) text(pattern.substr(0, brace));
    pattern.remove_prefix(brace);
    if (pattern.empty()) return;
    if (pattern.starts_with("{{") || pattern.starts_with("}}")) {
      text(pattern.substr(0, 1));
      pattern.remove_prefix(2);
      continue;
    }
    const auto end = pattern.find('}');
    if (pattern[0] == '}' || end == std::string_view::npos) {
      a_name_pattern_has_a_brace_without_its_partner();
      return;
    }
    const auto inside = pattern.substr(1, end - 1);
    pattern.remove_prefix(end + 1);
    if (inside.empty()) {
      if (has_numbers) a_name_pattern_is_either_numbered_or_not();
      place(next++);
      continue;
    }
    std::size_t number = 0;
    for (const char digit : inside) {
      if (digit < '0' || digit > '9' || inside.size() > 3) {
        a_name_pattern_has_only_places_like_these___or_0();
      }
      number = number * 10 + static_cast<std::size_t>(digit - '0');
    }
    if (next > 0) a_name_pattern_is_either_numbered_or_not();
    has_numbers = true;
    place(number);
  }
}

}  // namespace holdfast::detail
