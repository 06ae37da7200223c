// SPDX-License-Identifier: Apache-2.0
#include <holdfast/forrst/client.hpp>

#include "forrst/client_backoff.hpp"
#include "forrst/client_decode.hpp"
#include "forrst/client_encode.hpp"
#include "forrst/transport.hpp"
#include "runtime/random.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>

namespace holdfast::forrst {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using runtime::LocalClock;
using runtime::LocalTime;

constexpr std::string_view functions_of_locks = "urn:cline:forrst:ext:atomic-lock:fn:";
constexpr std::string_view version_of_locks = "1.0.0";
// What a server's word that the time is over may take to arrive.
constexpr Duration grace_after_deadline = 1s;
constexpr std::string_view socket_scheme = "unix:";

// False if the token fired first.
bool sleep_for(Duration delay, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable woken;
  const std::stop_callback on_stop(stop, [&] {
    const std::lock_guard lock(mutex);
    woken.notify_one();
  });
  std::unique_lock lock(mutex);
  return !woken.wait_for(lock, delay, [&] { return stop.stop_requested(); });
}

// One call, with as many attempts as it takes.
class Calling {
 public:
  Calling(Transport& transport, const CallOptions& options, std::stop_token stop)
      : transport_(transport), options_(options), stop_(std::move(stop)) {}

  Result<CallReply> run() {
    for (;;) {
      auto reply = attempt();
      if (reply) reply->attempts = attempts_;
      const auto delay = delay_after(reply);
      if (!delay) return reply;
      if (!sleep_for(*delay, stop_)) {
        return fail(Errc::cancelled,
                    fmt::format("{}: cancelled between two attempts", transport_.describe()));
      }
    }
  }

 private:
  // What is left of the caller's deadline, which counts from the first attempt.
  std::optional<Duration> time_left() const {
    if (!options_.deadline || attempts_ <= 1) return options_.deadline;
    return *options_.deadline - std::chrono::duration_cast<Duration>(LocalClock::now() - began_);
  }

  Result<CallReply> attempt() {
    ++attempts_;
    const auto id = fresh_request_id();
    const auto left = time_left();
    const auto request = encode_call(options_, id, left);
    if (!request) return std::unexpected(request.error());
    auto patience = options_.timeout + (options_.lock ? options_.lock->block : Duration::zero());
    if (left) patience = std::min(patience, *left + grace_after_deadline);
    const auto answer = transport_.send(*request, LocalClock::now() + patience, stop_);
    if (!answer) return std::unexpected(answer.error());
    auto reply = decode_reply(answer->body, id);
    if (reply) return std::move(*reply);
    return std::unexpected(unreadable(*answer, transport_.describe(), reply.error()));
  }

  // Nothing: what came is the end.
  std::optional<Duration> delay_after(const Result<CallReply>& reply) const {
    if (!options_.backoff) return std::nullopt;
    const bool was_unsent = !reply && reply.error().code == Errc::unavailable;
    const bool may_again = reply ? may_try_again(*reply) : was_unsent && options_.idempotency_key;
    if (!may_again) return std::nullopt;
    const auto patience = reply ? asked_patience(*reply) : Duration::zero();
    const auto delay =
        delay_before_next(*options_.backoff, attempts_, patience, runtime::secure_random());
    if (!delay || !options_.deadline) return delay;
    // An attempt that begins with nothing left of the deadline is not worth the wait.
    const auto ends = LocalClock::now() + *delay + 1ms;
    return ends < began_ + *options_.deadline ? delay : std::nullopt;
  }

  Transport& transport_;
  const CallOptions& options_;
  const std::stop_token stop_;
  const LocalTime began_ = LocalClock::now();
  unsigned attempts_ = 0;
};

}  // namespace

Result<Client> Client::open(std::string_view url, ClientOptions options) {
  const bool is_socket = url.starts_with(socket_scheme);
  if (is_socket && (!options.token.empty() || !options.ca_file.empty())) {
    return fail(Errc::bad_input, fmt::format("{}: is not for unix: sockets",
                                             options.token.empty() ? "ca_file" : "token"));
  }
  auto transport =
      is_socket ? open_socket(url.substr(socket_scheme.size())) : open_http(url, options);
  if (!transport) return std::unexpected(std::move(transport.error()));
  return Client(std::move(*transport));
}

Result<CallReply> Client::call(const CallOptions& options, std::stop_token stop) const {
  if (auto good = check_call(options); !good) return std::unexpected(std::move(good.error()));
  return Calling(*transport_, options, std::move(stop)).run();
}

Result<std::string> Client::send(std::string_view request, Duration timeout,
                                 std::stop_token stop) const {
  if (timeout <= 0s || timeout > 24h) {
    return fail(Errc::bad_input, "timeout: must be more than nothing, and at most 24 h");
  }
  auto answer = transport_->send(request, LocalClock::now() + timeout, std::move(stop));
  if (!answer) return std::unexpected(std::move(answer.error()));
  return std::move(answer->body);
}

namespace {

CallOptions function_of_locks(std::string_view name, json::object arguments) {
  return {.function = fmt::format("{}{}", functions_of_locks, name),
          .version = std::string(version_of_locks),
          .arguments = std::move(arguments)};
}

}  // namespace

Result<CallReply> Client::release(std::string_view full_key, std::string_view owner,
                                  Fence fence) const {
  json::object arguments{{"key", full_key}, {"owner", owner}};
  if (fence != 0) arguments["fence"] = fence;
  return call(function_of_locks("release", std::move(arguments)));
}

Result<CallReply> Client::force_release(std::string_view full_key) const {
  return call(function_of_locks("force-release", {{"key", full_key}}));
}

Result<CallReply> Client::status(std::string_view full_key) const {
  return call(function_of_locks("status", {{"key", full_key}}));
}

Result<CallReply> Client::renew(std::string_view full_key, std::string_view owner,
                                Duration ttl) const {
  if (ttl % 1s != 0s || ttl < 1s || ttl > max_lock_ttl) {
    return fail(Errc::bad_input, "ttl: must be whole seconds, from 1 s to 24 h");
  }
  const json::object length{
      {"value", std::chrono::duration_cast<std::chrono::seconds>(ttl).count()}, {"unit", "second"}};
  return call(function_of_locks("renew", {{"key", full_key}, {"owner", owner}, {"ttl", length}}));
}

}  // namespace holdfast::forrst
