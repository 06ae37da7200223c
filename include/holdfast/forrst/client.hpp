// SPDX-License-Identifier: Apache-2.0
//
// A client of any Forrst server:
//
//   auto client = holdfast::forrst::Client::open("http://127.0.0.1:3009/forrst");
//   auto reply = client->call({.function = "payments.charge",
//                              .arguments = {{"amount", 100}},
//                              .lock = LockOptions{.key = "user:123", .ttl = 30s}});
//   if (reply && reply->ok()) use(reply->result);
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/forrst/fault.hpp>
#include <holdfast/names.hpp>
#include <holdfast/options.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::forrst {

class Transport;

enum class Scope : std::uint8_t { function, global };

struct LockOptions {
  std::string key;
  Duration ttl{};  // whole seconds, up to max_lock_ttl
  Scope scope = Scope::function;
  Duration block{};     // zero: do not wait
  std::string owner{};  // empty: the server makes one
  bool auto_release = true;
};

struct ExtensionCall {
  std::string urn;
  boost::json::object options{};
};

// Where the server says after how long to come back, that is the least; if it asks for more than
// `most`, its answer is returned instead.
struct Backoff {
  unsigned attempts = 5;  // in all
  Duration first = std::chrono::milliseconds(100);
  double factor = 2.0;
  Duration most = std::chrono::seconds(5);
  double jitter = 0.5;  // of each delay, at random: 0 to 1
};

struct CallOptions {
  std::string function;
  std::string version{};  // empty: the newest stable one
  boost::json::object arguments{};
  boost::json::object context{};
  std::optional<LockOptions> lock{};
  std::optional<std::string> idempotency_key{};
  std::optional<Duration> deadline{};       // of the whole call, from its first attempt
  std::vector<ExtensionCall> extensions{};  // any others, as they are
  // Whether LOCK_ACQUISITION_FAILED, LOCK_TIMEOUT and other retryable errors of locks are tried
  // again; nothing: they are returned.
  std::optional<Backoff> backoff{};
  // Of one attempt, beyond what it may wait for a lock.
  Duration timeout = std::chrono::seconds(30);
};

// What came back about a lock.
struct LockData {
  std::string key;
  bool acquired = false;
  std::string owner{};
  std::string scope{};
  std::string expires_at{};
  Fence fence = 0;  // zero: the server gives none
};

struct CallReply {
  std::string id;
  boost::json::value result;
  std::vector<Fault> faults;
  std::vector<ExtensionCall> extensions;  // options: their data
  boost::json::object meta;
  unsigned attempts = 1;

  bool ok() const { return faults.empty(); }
  bool has(std::string_view code) const;
  // By the name of the extension, in whatever form of its URN: "atomic-lock".
  const boost::json::object* extension(std::string_view name) const;
  std::optional<LockData> lock() const;
};

struct ClientOptions {
  std::string token{};    // a bearer token for HTTP
  std::string ca_file{};  // for https
};

// From any thread. Copies share connections.
class Client {
 public:
  // "http://HOST:PORT/PATH", "https://…", or "unix:/path/to.sock" for frames of a length and JSON.
  // Connects when there is something to say. Errors: bad_input.
  static Result<Client> open(std::string_view url, ClientOptions options = {});

  // Blocks. What the server answers is a reply, errors of the protocol too. Errors: unavailable
  // (surely not sent), outcome_unknown (sent, and no answer came or none that could be read),
  // cancelled, bad_input.
  Result<CallReply> call(const CallOptions& options, std::stop_token stop = {}) const;
  // Bytes as they are, for those who make their own.
  Result<std::string> send(std::string_view request, Duration timeout,
                           std::stop_token stop = {}) const;

  // The functions of the atomic-lock extension, on the full key ("lock:payments.charge:user:123").
  // With a fence, newer leases of the owner are left alone.
  Result<CallReply> release(std::string_view full_key, std::string_view owner,
                            Fence fence = 0) const;
  Result<CallReply> force_release(std::string_view full_key) const;
  Result<CallReply> status(std::string_view full_key) const;
  Result<CallReply> renew(std::string_view full_key, std::string_view owner, Duration ttl) const;

 private:
  explicit Client(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}
  std::shared_ptr<Transport> transport_;
};

}  // namespace holdfast::forrst
