// SPDX-License-Identifier: Apache-2.0
//
// Carries events to those who listen over HTTP. The first one after a silence is sent at once;
// under load what has gathered goes out together, so that many listeners cost a server little.
#pragma once

#include "net/http/message.hpp"
#include "runtime/runtime.hpp"
#include "server/events/hub.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace holdfast::server {

// Between two writes to one listener.
inline constexpr std::chrono::milliseconds event_interval{25};
// A line now and then, so that proxies and clients know that we are there.
inline constexpr std::chrono::seconds event_heartbeat{15};

class EventStreams {
 public:
  // Sets the hub's on_news. The hub outlives the streams.
  EventStreams(EventHub& hub, std::shared_ptr<runtime::Runtime> runtime);
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;
  ~EventStreams();

  // Ends with the stream, and never keeps it alive.
  void add(EventHub::Subscription subscription, std::shared_ptr<net::http::BodyStream> stream);

 private:
  class Listener;
  struct Shared;

  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast::server
