// SPDX-License-Identifier: Apache-2.0
//
// Where everything that happens through this server is written down: as an event for subscribers,
// in the audit trail, and in the metrics.
#pragma once

#include <holdfast/view.hpp>

#include "server/who.hpp"
#include "text/event_type.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace holdfast::server {

class AuditLog;
class Observer;
struct Metrics;

using text::EventType;

struct Happening {
  EventType type = EventType::acquired;
  std::string_view name;
  std::optional<Fence> fence{};
  std::string_view reason{};
  std::optional<Kind> kind{};
  std::optional<std::uint32_t> permits{};
  std::shared_ptr<const Metadata> metadata{};
  std::uint64_t party = 0;  // of a waiter, so that it is not told twice
  std::optional<Micros> remaining{};
  std::optional<Micros> waited{};
  std::optional<Micros> held{};
};

// From any thread.
class Journal {
 public:
  Journal(Observer& observer, AuditLog& audit, Metrics& metrics)
      : observer_(observer), audit_(audit), metrics_(metrics) {}

  // As an event, in the metrics, and in the audit trail where it changed who holds a lock.
  void record(const Who& who, const Happening& happening);
  // In the audit trail alone: "denied", "session_started", "server_started".
  void note(const Who& who, std::string_view what, std::string_view name, std::string_view reason);

  Metrics& metrics() { return metrics_; }

 private:
  void count(const Happening& happening);

  Observer& observer_;
  AuditLog& audit_;
  Metrics& metrics_;
};

}  // namespace holdfast::server
