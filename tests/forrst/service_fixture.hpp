// SPDX-License-Identifier: Apache-2.0
//
// A service on an embedded store of its own, with the functions of the protocol's examples.
#pragma once

#include <holdfast/forrst/service.hpp>

#include "support/timing.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

namespace json = boost::json;

inline constexpr std::string_view lock_urn = "urn:forrst:ext:atomicLock";
inline constexpr std::string_view once_urn = "urn:cline:forrst:ext:idempotency";
inline constexpr std::string_view lock_function = "urn:cline:forrst:ext:atomic-lock:fn:";

// {"value": n, "unit": unit}
json::object span(std::int64_t value, std::string_view unit = "second");

// A request, member by member.
struct Question {
  std::string function = "payments.charge";
  std::optional<std::string> version{};
  json::object arguments{{"user_id", "user_123"}, {"amount", 100}};
  json::array extensions{};
  json::object context{};
  std::string id = "req_001";

  Question& with(std::string_view urn, json::object options);
  Question& locked(json::object options) { return with(lock_urn, std::move(options)); }
  std::string text() const;
};

// payments.charge under the lock user:1, with these options changed or added.
Question charge_user(json::object more = {});
// The name of its lock.
inline constexpr std::string_view charge_key = "lock:payments.charge:user:1";

struct Told {
  int status = 0;
  json::object body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string raw;

  bool is_good() const { return !body.contains("errors"); }
  std::string code(std::size_t at = 0) const;
  std::string message(std::size_t at = 0) const;
  std::string pointer(std::size_t at = 0) const;
  const json::object& error(std::size_t at = 0) const;
  std::size_t errors() const;
  // The data of an extension by its URN; null if there is none.
  const json::object* data(std::string_view urn) const;
  std::string header(std::string_view name) const;
};

Told told_by(forrst::Reply reply);

// What a function does that works until it is told to stop.
void wait_for_stop(const std::stop_token& stop);

class ForrstService : public ::testing::Test {
 protected:
  ForrstService();
  void SetUp() override;

  // Makes the service anew with other options; functions are those of `add_functions`.
  void serve(forrst::ServiceOptions options, std::shared_ptr<forrst::Host> host = nullptr);
  virtual void add_functions();
  void add(forrst::Function function);

  Told ask(const Question& question, const forrst::Caller& caller = {},
           std::stop_token stop = {}) const;
  Told ask_text(std::string_view body) const;
  // A function of the extension.
  Told lock_call(std::string_view name, json::object arguments,
                 const forrst::Caller& caller = {}) const;
  bool is_locked(std::string_view full_key) const;
  // True once somebody waits for it.
  bool has_waiter(std::string_view full_key) const;
  // Held by somebody who is not in the way of anything but this name.
  Lease hold(std::string_view full_key) const;

  Client client;
  std::optional<forrst::Service> service;
  // What payments.charge does; by default it answers as the example does.
  std::function<forrst::Outcome(const forrst::Invocation&)> charge;
  std::atomic<int> charges{0};
};

}  // namespace holdfast::test
