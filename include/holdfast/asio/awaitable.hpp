// SPDX-License-Identifier: Apache-2.0
//
// The one opt-in header that names Boost. A program that runs on Boost.Asio awaits a lock on its
// own executor:
//
//     auto lease = co_await holdfast::asio::on_executor(orders.async_acquire({.wait = 5s}));
//
// Link Boost.Asio yourself; the Holdfast library does not pass it on.
#pragma once

#include <holdfast/task.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::asio {

namespace detail {

struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
};

// The value crosses threads in a box, because Asio wants handlers it may copy on the way.
template <typename T, typename Handler>
Detached drive(Task<T> task, Handler handler) {
  const auto executor = boost::asio::get_associated_executor(handler);
  const auto work = boost::asio::make_work_guard(executor);
  auto box = std::make_shared<std::optional<T>>(co_await std::move(task));
  // Never inline: a lock that is free answers inside the call that asks for it, and a loop of
  // those would go ever deeper into the stack.
  boost::asio::post(executor, [handler = std::move(handler), box]() mutable {
    std::move(handler)(std::move(box));
  });
}

}  // namespace detail

// Awaits the task and continues on the executor of the calling coroutine. To cancel, give
// async_acquire a stop token.
template <typename T>
boost::asio::awaitable<T> on_executor(Task<T> task) {
  using Box = std::shared_ptr<std::optional<T>>;
  auto box = co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void(Box)>(
      [](auto handler, Task<T> started) { detail::drive(std::move(started), std::move(handler)); },
      boost::asio::use_awaitable, std::move(task));
  co_return std::move(**box);
}

}  // namespace holdfast::asio
