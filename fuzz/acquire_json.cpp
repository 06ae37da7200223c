// SPDX-License-Identifier: Apache-2.0
//
// The body of an acquire: whatever it is, it is refused with a sentence or within every limit.
#include "open/open.hpp"
#include "server/audit/audit_log.hpp"
#include "server/http/call.hpp"
#include "server/locks/order.hpp"
#include "server/options.hpp"
#include "server/services.hpp"
#include "text/json_parse.hpp"

#include <boost/json/serialize.hpp>

#include <cstdint>
#include <cstdlib>

namespace {

using namespace holdfast;

void check(bool good) {
  if (!good) std::abort();
}

server::Services& services() {
  static const auto made = [] {
    auto core = open_core("memory:");
    auto audit = server::make_audit_log({});
    check(core && audit);
    return std::make_unique<server::Services>(server::ServerOptions{}, std::move(*core),
                                              std::move(*audit));
  }();
  return *made;
}

void check_order(const server::AcquireOrder& order) {
  check(order.wanted.ttl >= min_ttl && order.wanted.ttl <= max_ttl);
  check(order.wanted.wait >= Duration::zero() && order.wanted.wait <= max_wait);
  check(order.wanted.permits > 0);
  check(!order.wanted.owner.view().empty() && order.wanted.owner.view().size() <= max_owner_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  net::http::Request request;
  request.body = {reinterpret_cast<const char*>(data), size};
  const server::Call call{services(), request, {}, server::Principal::everybody()};
  const auto body = call.body();
  if (!body) {
    check(body.error().code == Errc::bad_input && !body.error().message.empty());
    return 0;
  }
  check(text::parse_json(boost::json::serialize(*body)).has_value());
  const auto order = server::parse_acquire(call, call.services.core(), "name", *body);
  if (order) {
    check_order(*order);
  } else {
    const auto code = order.error().code;
    check(code == Errc::bad_input || code == Errc::unsupported);
    check(!order.error().message.empty());
  }
  return 0;
}
