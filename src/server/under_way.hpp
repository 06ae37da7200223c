// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/services.hpp"

namespace holdfast::server {

// An operation that goes on without its client, and that the server waits for.
class UnderWay {
 public:
  explicit UnderWay(Services& services) : services_(services) { ++services_.under_way; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() { --services_.under_way; }

 private:
  Services& services_;
};

}  // namespace holdfast::server
