// SPDX-License-Identifier: Apache-2.0
//
// Something that happened to a lock, as a value, and the form in which subscribers share it.
#pragma once

#include <holdfast/view.hpp>

#include "text/event_type.hpp"
#include "text/wall_time.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::server {

using text::EventSource;
using text::EventType;
using text::WallTime;

// Never an owner token.
struct Event {
  EventType type = EventType::acquired;
  std::string name;  // empty for store_changed
  WallTime at{};
  std::optional<Fence> fence{};
  std::string reason{};
  EventSource source = EventSource::server;
  std::string principal{};  // only from server
  std::optional<Kind> kind{};
  std::optional<std::uint32_t> permits{};
  std::shared_ptr<const Metadata> metadata{};  // may be null
  std::uint64_t party = 0;                     // of the holder or waiter; 0: not known
  std::optional<Micros> remaining{};           // acquired, renewed: what was left of the lease
  std::optional<Micros> waited{};              // acquired, left: after how long a wait
  std::optional<Micros> held{};                // of what ended: after how long
};

// An event with its id. Its JSON is made when the first subscriber asks, and then shared: an event
// that nobody hears costs no formatting.
class PublishedEvent {
 public:
  PublishedEvent(std::uint64_t id, Event event) : id_(id), event_(std::move(event)) {}

  std::uint64_t id() const { return id_; }
  const Event& event() const { return event_; }
  // From any thread. One line, without a newline.
  const std::string& json() const;
  // As a server-sent event, made and shared likewise.
  const std::string& frame() const;

 private:
  const std::uint64_t id_;
  const Event event_;
  mutable std::once_flag formatted_;
  mutable std::string json_;
  mutable std::once_flag framed_;
  mutable std::string frame_;
};

using SharedEvent = std::shared_ptr<const PublishedEvent>;

}  // namespace holdfast::server
