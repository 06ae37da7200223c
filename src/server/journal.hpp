// SPDX-License-Identifier: Apache-2.0
//
// Where everything that happens through this server is written down: as an event for subscribers,
// in the audit trail, and in the metrics.
#pragma once

#include "server/auth/principal.hpp"
#include "server/events/hub.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::server {

// On whose behalf.
struct Who {
  std::shared_ptr<const Principal> principal;
  std::string client;  // the address
};

struct Happening {
  EventType type = EventType::acquired;
  std::string_view name;
  std::optional<Fence> fence{};
  std::string_view reason{};
  std::optional<Kind> kind{};
  std::optional<std::uint32_t> permits{};
  std::shared_ptr<const Metadata> metadata{};
};

class Journal {
 public:
  explicit Journal(EventHub& events) : events_(events) {}

  // From any thread.
  void record(const Who& who, const Happening& happening);

 private:
  EventHub& events_;
};

}  // namespace holdfast::server
