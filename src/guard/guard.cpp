// SPDX-License-Identifier: Apache-2.0
#include "guard/guard.hpp"

#include "guard/passage.hpp"
#include "net/http/listener.hpp"

#include <boost/asio/post.hpp>

#include <future>
#include <thread>

namespace holdfast::guard {

namespace http = net::http;

namespace {

// After the drain: how long connections that were told to end may take to notice.
constexpr auto closing_time = std::chrono::seconds(2);
constexpr auto longest_answer = std::chrono::seconds(30);  // of the store
constexpr auto body_timeout = std::chrono::seconds(60);

http::ConnectionLimits connection_limits(const Options& options) {
  http::ConnectionLimits limits;
  limits.reader.max_body_bytes = options.max_body_bytes;
  limits.body_timeout = body_timeout;
  return limits;
}

}  // namespace

struct Guard::Parts {
  Parts(Options given, std::shared_ptr<client::Core> core)
      : options(std::move(given)), admission(max_guard_connections, max_guard_connections) {
    for (unsigned each = 0; each < options.threads; ++each) {
      passages.push_back(std::make_unique<Passage>(options, core, lanes));
      workers.push_back(std::make_unique<http::Worker>(
          *passages.back(), connection_limits(options),
          [this](const http::Peer& peer) { admission.leave(peer); }));
      passages.back()->attach(workers.back()->context());
    }
  }

  Result<void> listen() {
    for (const auto& address : options.listen) {
      auto listener = std::make_unique<http::Listener>(workers, admission, nullptr);
      if (auto opened = listener->open(address); !opened) return opened;
      listeners.push_back(std::move(listener));
    }
    return {};
  }

  // On every worker's thread, and waits for it.
  template <typename What>
  void on_workers(What what) {
    for (std::size_t each = 0; each < workers.size(); ++each) {
      std::promise<void> did;
      boost::asio::post(workers[each]->context(), [&] {
        what(each);
        did.set_value();
      });
      did.get_future().wait();
    }
  }

  bool wait_until_empty(std::chrono::microseconds time) const {
    const auto until = std::chrono::steady_clock::now() + time;
    const auto is_busy = [](const auto& worker) { return worker->connections() > 0; };
    while (std::ranges::any_of(workers, is_busy)) {
      if (std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

  // A store that is slow to answer must find us here when it does.
  void wait_for_answers() const {
    const auto until = std::chrono::steady_clock::now() + longest_answer;
    while (lanes.size() > 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  const Options options;
  Lanes lanes;
  http::Admission admission;
  // The loops end after whatever uses them.
  std::vector<std::unique_ptr<http::Worker>> workers;
  std::vector<std::unique_ptr<Passage>> passages;
  std::vector<std::unique_ptr<http::Listener>> listeners;
  bool is_stopped = false;
};

Result<std::unique_ptr<Guard>> Guard::start(Options options, std::shared_ptr<client::Core> core) {
  std::unique_ptr<Guard> guard(
      new Guard(std::make_unique<Parts>(std::move(options), std::move(core))));
  if (auto good = guard->parts_->listen(); !good) return std::unexpected(std::move(good.error()));
  return guard;
}

Guard::Guard(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Guard::~Guard() { stop(); }

std::vector<std::string> Guard::addresses() const {
  std::vector<std::string> all;
  for (const auto& listener : parts_->listeners) all.push_back(listener->bound());
  return all;
}

void Guard::stop() {
  auto& parts = *parts_;
  if (std::exchange(parts.is_stopped, true)) return;
  parts.on_workers([&](std::size_t each) {
    if (each != 0) return;
    for (const auto& listener : parts.listeners) listener->close();
  });
  parts.on_workers([&](std::size_t each) { parts.workers[each]->drain(); });
  if (!parts.wait_until_empty(parts.options.drain)) {
    parts.on_workers([&](std::size_t each) { parts.passages[each]->pool().close(); });
    parts.on_workers([&](std::size_t each) { parts.workers[each]->close_all(); });
    parts.wait_until_empty(closing_time);
  }
  parts.on_workers([&](std::size_t each) { parts.passages[each]->pool().close(); });
  parts.wait_for_answers();
  for (const auto& worker : parts.workers) worker->stop();
  parts.listeners.clear();
}

}  // namespace holdfast::guard
