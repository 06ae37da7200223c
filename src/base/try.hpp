// SPDX-License-Identifier: Apache-2.0
//
// Hands an error up to the caller, so that a function of five fallible calls reads as five lines:
//
//   TRY(check(options));                                  // Result<void>, or a value nobody needs
//   ASSIGN_OR_RETURN(const auto name, LockName::make(text));
//
// Both return from the function around them; the CO_ forms do so from a coroutine, where the
// expression may be a co_await. What is assigned is moved out of the Result.
#pragma once

#include <expected>
#include <utility>

#define HOLDFAST_JOIN_(a, b) a##b
#define HOLDFAST_JOIN(a, b) HOLDFAST_JOIN_(a, b)

#define HOLDFAST_TRY_(leave, result, expression) \
  if (auto result = (expression); !result) leave std::unexpected(std::move(result).error())

#define HOLDFAST_ASSIGN_(leave, result, declaration, expression)        \
  auto result = (expression);                                           \
  if (!result) leave std::unexpected(std::move(result).error());        \
  declaration = *std::move(result)

#define TRY(...) HOLDFAST_TRY_(return, HOLDFAST_JOIN(result_, __LINE__), (__VA_ARGS__))
#define CO_TRY(...) HOLDFAST_TRY_(co_return, HOLDFAST_JOIN(result_, __LINE__), (__VA_ARGS__))
#define ASSIGN_OR_RETURN(declaration, ...) \
  HOLDFAST_ASSIGN_(return, HOLDFAST_JOIN(result_, __LINE__), declaration, (__VA_ARGS__))
#define CO_ASSIGN_OR_RETURN(declaration, ...) \
  HOLDFAST_ASSIGN_(co_return, HOLDFAST_JOIN(result_, __LINE__), declaration, (__VA_ARGS__))
