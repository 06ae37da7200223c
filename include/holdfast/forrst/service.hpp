// SPDX-License-Identifier: Apache-2.0
//
// A Forrst server without a transport: requests in, answers out, locks in between.
//
//   auto service = holdfast::forrst::Service::make(*holdfast::open("redis://localhost"));
//   service->add({.name = "payments.charge",
//                 .arguments = {{.name = "amount", .type = Rule::Type::integer, .is_required =
//                 true}}, .handler = [](const Invocation& call) -> Outcome { return charge(call);
//                 }});
//   Reply reply = service->handle(body);  // reply.status, reply.body
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/forrst/function.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::forrst {

class Engine;
class Host;

inline constexpr std::size_t max_request_bytes = std::size_t{1} << 20U;
inline constexpr std::size_t max_result_bytes = std::size_t{10} << 20U;
inline constexpr std::size_t max_request_depth = 64;
inline constexpr std::size_t max_id_bytes = 255;
inline constexpr std::size_t max_urn_bytes = 255;
inline constexpr std::size_t max_extensions = 50;
inline constexpr std::size_t max_options_depth = 5;
inline constexpr std::size_t max_options_bytes = std::size_t{64} * 1024;
inline constexpr std::size_t max_faults = 100;
inline constexpr std::size_t max_lock_key_bytes = 200;
inline constexpr Duration max_lock_ttl = std::chrono::hours(24);
inline constexpr std::size_t max_functions = 10'000;

// Who may see the owner of a lock in `status`.
enum class ShowOwner : std::uint8_t {
  automatic,  // everybody while callers are not told apart, else as `admin`
  always,
  admin,  // and whoever sends it
};

struct ServiceOptions {
  std::string name = "holdfast";  // in capabilities
  std::string version{};          // of the service, for health and describe
  std::string node{};             // in meta.node; empty: left out
  std::string prefix = "lock:";   // of the names of locks
  ShowOwner status_owner = ShowOwner::automatic;
  // Refuse extensions that we do not know instead of ignoring them.
  bool is_strict = false;
  // Threads for functions that block, and how many calls may wait for one.
  unsigned threads = 8;
  std::size_t max_waiting_calls = 1'000;
  // How long the owner of a lock that was released is told so, and how many are remembered.
  Duration remember_released = std::chrono::minutes(10);
  std::size_t max_remembered = 10'000;
  // Of all calls of all functions together.
  std::optional<RateRule> rate_limit{};
};

// Who calls. What `may` is asked is the caller's right to do something with the name of a lock, or
// with no name in particular.
struct Caller {
  enum class Right : std::uint8_t { read, lock, admin };
  std::string subject{};  // what rate limits per user count by; empty: nobody in particular
  bool is_known = false;  // callers are told apart by what they may do
  std::function<bool(Right, std::string_view name)> may{};  // empty: everything
  std::shared_ptr<const void> badge{};                      // for the host
};

struct Reply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body;
  bool has_waited = false;  // it took long because the caller wanted to wait
  // To be called if the answer cannot be delivered: gives back a lock that only the answer tells
  // of.
  std::move_only_function<void()> undelivered{};
};

class Service {
 public:
  // Errors: bad_input, naming the option.
  static Result<Service> make(const holdfast::Client& client, ServiceOptions options = {});
  static Result<Service> make(const holdfast::Client& client, ServiceOptions options,
                              std::shared_ptr<Host> host);

  // Before the first call. Errors: bad_input, naming the field and the rule: a name that is taken
  // or reserved, a version that is none, rules that contradict themselves.
  Result<void> add(Function function);

  // Answers one request; blocks. From any thread but the library's own. The answer to what is no
  // request at all is an answer too.
  Reply handle(std::string_view body, Caller caller = {}, std::stop_token stop = {}) const;
  // The same without a thread that waits. `body` is copied before the task is returned.
  Task<Reply> answer(std::string_view body, Caller caller = {}, std::stop_token stop = {}) const;
  // The answer of the protocol to what a transport refuses: an error without a request.
  Reply refuse(int status, const Fault& fault) const;

 private:
  explicit Service(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}
  std::shared_ptr<Engine> engine_;
};

}  // namespace holdfast::forrst
