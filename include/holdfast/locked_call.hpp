// SPDX-License-Identifier: Apache-2.0
//
// What holdfast/locked.hpp is made of: the call of a callable under its lock.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/locked_name.hpp>
#include <holdfast/locked_options.hpp>

#include <array>
#include <concepts>
#include <functional>
#include <optional>
#include <source_location>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace holdfast {

namespace detail {

Result<Lease> acquire_locked(const Client& client, const Result<std::string>& name,
                             const LockedOptions& options, std::stop_token stop,
                             const std::source_location& where);

template <typename R>
concept IsResult =
    requires { typename R::error_type; } && std::same_as<typename R::error_type, Error>;

template <typename R>
struct ValueOf {
  using Type = R;
};
template <IsResult R>
struct ValueOf<R> {
  using Type = typename R::value_type;
};

// A call as a Result of its value, whatever it returns.
template <typename R, typename Call>
Result<typename ValueOf<R>::Type> outcome_of(Call&& call) {
  if constexpr (IsResult<R>) {
    return std::forward<Call>(call)();
  } else if constexpr (std::is_void_v<R>) {
    std::forward<Call>(call)();
    return {};
  } else {
    return Result<R>(std::forward<Call>(call)());
  }
}

inline bool is_in_vain(const Error& error) {
  return error.code == Errc::busy || error.code == Errc::timed_out;
}

// Runs `call(lease)`, which returns R, or does what the policy says.
template <typename R, typename Call>
auto run_or(const ReturnError&, Result<Lease> lease, Call&& call)
    -> Result<typename ValueOf<R>::Type> {
  if (!lease) return std::unexpected(std::move(lease.error()));
  return outcome_of<R>([&] { return call(std::as_const(*lease)); });
}

template <typename R, typename Call>
auto run_or(const SkipIfBusy&, Result<Lease> lease, Call&& call) {
  using Value = typename ValueOf<R>::Type;
  using Ran = std::conditional_t<std::is_void_v<Value>, bool, std::optional<Value>>;
  if (!lease) {
    if (is_in_vain(lease.error())) return Result<Ran>(Ran{});
    return Result<Ran>(std::unexpected(std::move(lease.error())));
  }
  auto done = outcome_of<R>([&] { return call(std::as_const(*lease)); });
  if (!done) return Result<Ran>(std::unexpected(std::move(done.error())));
  if constexpr (std::is_void_v<Value>) {
    return Result<Ran>(true);
  } else {
    return Result<Ran>(Ran(std::move(*done)));
  }
}

template <typename R, typename Handler, typename Call>
auto run_or(const OrElse<Handler>& policy, Result<Lease> lease, Call&& call)
    -> Result<typename ValueOf<R>::Type> {
  if (lease) return outcome_of<R>([&] { return call(std::as_const(*lease)); });
  using Handled = std::invoke_result_t<const Handler&, const Error&>;
  return outcome_of<Handled>([&] { return std::invoke(policy.handler, lease.error()); });
}

template <typename Work, typename... Args>
decltype(auto) call_with(Work& work, const Lease& lease, Args&&... args) {
  if constexpr (std::is_invocable_v<Work&, Args..., const Lease&>) {
    return std::invoke(work, std::forward<Args>(args)..., lease);
  } else {
    return std::invoke(work, std::forward<Args>(args)...);
  }
}

template <typename Work, typename... Args>
inline constexpr bool callable_with =
    std::is_invocable_v<Work&, Args..., const Lease&> || std::is_invocable_v<Work&, Args...>;

}  // namespace detail

// What `locked` returns. As copyable, and as usable from several threads at a time, as the callable
// and the key are.
template <typename Key, typename Work, typename Policy>
class Locked {
 public:
  Locked(Client client, Key key, const LockedOptions& options, Work work, Policy policy,
         std::source_location where)
      : client_(std::move(client)),
        key_(std::move(key)),
        options_(options),
        note_(options.note),
        work_(std::move(work)),
        policy_(std::move(policy)),
        where_(where) {}

  template <typename... Args>
  auto operator()(Args&&... args) {
    return call(std::stop_token(), std::forward<Args>(args)...);
  }
  template <typename... Args>
  auto operator()(Args&&... args) const {
    return call(std::stop_token(), std::forward<Args>(args)...);
  }
  // The same, and the token ends the wait for the lock; then the error is cancelled.
  template <typename... Args>
  auto call(std::stop_token stop, Args&&... args) {
    return pass(*this, Known(), std::move(stop), std::forward<Args>(args)...);
  }
  template <typename... Args>
  auto call(std::stop_token stop, Args&&... args) const {
    return pass(*this, Known(), std::move(stop), std::forward<Args>(args)...);
  }

 private:
  using Known = detail::ParametersOf<Work>;

  // As the callable's own parameters: what is equal to it must have one name.
  template <typename Self, typename... P, typename... Args>
  static auto pass(Self& self, detail::Parameters<P...>, std::stop_token stop, Args&&... args) {
    static_assert(sizeof...(P) == sizeof...(Args), "the callable has another number of arguments");
    return run<Self, P...>(self, std::move(stop), std::forward<Args>(args)...);
  }
  template <typename Self, typename... P, typename Object, typename... Args>
  static auto pass(Self& self, detail::MemberParameters<P...>, std::stop_token stop,
                   Object&& object, Args&&... args) {
    static_assert(sizeof...(P) == sizeof...(Args), "the callable has another number of arguments");
    return run<Self, Object&&, P...>(self, std::move(stop), std::forward<Object>(object),
                                     std::forward<Args>(args)...);
  }
  template <typename Self, typename... Args>
  static auto pass(Self& self, detail::AnyParameters, std::stop_token stop, Args&&... args) {
    return run<Self, Args&&...>(self, std::move(stop), std::forward<Args>(args)...);
  }

  template <typename Self, typename... P>
  static auto run(Self& self, std::stop_token stop, P... args) {
    static_assert(detail::callable_with<decltype((self.work_)), P...>,
                  "the callable cannot be called with these arguments");
    using R = decltype(detail::call_with(self.work_, std::declval<const Lease&>(),
                                         std::forward<P>(args)...));
    static_assert(!std::is_reference_v<R>,
                  "what the lock protects would be used without it: return a value");
    const auto name = name_of(self.key_, std::as_const(args)...);
    auto options = self.options_;
    options.note = self.note_;
    auto lease = detail::acquire_locked(self.client_, name, options, std::move(stop), self.where_);
    return detail::run_or<R>(self.policy_, std::move(lease), [&](const Lease& held) -> R {
      return detail::call_with(self.work_, held, std::forward<P>(args)...);
    });
  }

  template <typename AnyKey, typename... Args>
  static Result<std::string> name_of(AnyKey& key, const Args&... args) {
    using Name = std::invoke_result_t<AnyKey&, const Args&...>;
    if constexpr (detail::IsResult<Name>) {
      return std::invoke(key, args...);
    } else {
      return std::string(std::string_view(std::invoke(key, args...)));
    }
  }

  Client client_;
  Key key_;
  LockedOptions options_;
  std::string note_;
  Work work_;
  Policy policy_;
  std::source_location where_;
};

}  // namespace holdfast
