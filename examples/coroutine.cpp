// SPDX-License-Identifier: Apache-2.0
//
// Waiting without blocking a thread: four coroutines of Boost.Asio share one thread and one lock.
// on_executor brings each of them back to that thread when its turn has come.
#include <holdfast/asio/awaitable.hpp>
#include <holdfast/holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

namespace {

namespace asio = boost::asio;

asio::awaitable<void> sleep_for(std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

// `served` needs no mutex: only one thread runs these coroutines.
asio::awaitable<void> customer(holdfast::Client client, std::string name, int& served) {
  auto counter = client.mutex("counter");
  auto waiting = counter.async_acquire({.ttl = 5s, .wait = 10s});
  auto lease = co_await holdfast::asio::on_executor(std::move(waiting));
  if (!lease) {
    std::cerr << name << ": " << lease.error().message << '\n';
    co_return;
  }
  std::cout << name << " is served, fence " << lease->fence() << '\n';
  co_await sleep_for(50ms);
  ++served;
}

}  // namespace

int main(int argc, char** argv) {
  const auto client = holdfast::open(argc > 1 ? argv[1] : "memory:");
  if (!client) {
    std::cerr << client.error().message << '\n';
    return 1;
  }
  int served = 0;
  asio::io_context context(1);
  for (const char* name : {"ada", "ben", "cleo", "dan"}) {
    asio::co_spawn(context, customer(*client, name, served), asio::detached);
  }
  context.run();
  return served == 4 ? 0 : 1;
}
