// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http/call.hpp"

namespace holdfast::server {

// A call that outlives the connection's buffer, for what has to wait before the endpoint may see
// it. Made on the connection's thread, used on any.
class KeptCall {
 public:
  explicit KeptCall(const Call& call);
  KeptCall(const KeptCall&) = delete;
  KeptCall& operator=(const KeptCall&) = delete;

  const Call& call() const { return call_; }

 private:
  std::string_view keep(std::string_view view);
  net::http::Request copy_of(const net::http::Request& request);

  std::string text_;  // all that the views point to; never grows
  const std::stop_token stop_;
  const std::stop_token left_;
  const net::http::Request request_;
  const Call call_;
};

}  // namespace holdfast::server
