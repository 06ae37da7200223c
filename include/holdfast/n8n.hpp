// SPDX-License-Identifier: Apache-2.0
//
// The four primitives that n8n workflows lock and throttle with: the same keys, the same answers
// and the same words when it fails, without their races. On Redis they and the original ones
// exclude each other, and count together.
//
//   auto client = holdfast::open(holdfast::n8n::store_url("redis://127.0.0.1"));
//   auto lock = holdfast::n8n::acquire(*client, {.scope = "excel-42", .execution_id = "1234"});
//   …
//   holdfast::n8n::release(*client, lock->scope, lock->lock_id);
//
// A lock is nobody's handle: it stays until it is released, cleaned up, or its ttl ends. While the
// process that took it lives, it sets back what n8n's own losers do to the ttl.
#pragma once

#include <holdfast/client.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::n8n {

inline constexpr std::int64_t default_seconds = 86'400;  // a ttl, and how long to wait for a lock
inline constexpr std::uint32_t default_limit = 10;
inline constexpr std::int64_t default_window_seconds = 60;
// Of lock_id, execution_id, workflow_id and workflow_name.
inline constexpr std::size_t max_field_bytes = 256;
inline constexpr std::size_t max_lock_scopes = 1000;
// How many locks a clean-up looks through for scopes that nobody registered.
inline constexpr std::size_t max_locks_searched = 100'000;

// The URL of the same store with n8n's keys for locks, where the store shares keys with others:
// redis:// and rediss://. Others keep n8n's names.
std::string store_url(std::string_view url);

// What is empty is "unknown", but for lock_id, which is then a fresh UUID.
struct LockRequest {
  std::string scope = "default";
  std::int64_t ttl_seconds = default_seconds;
  std::string execution_id{};
  bool wait_till_lock_released = true;
  std::int64_t max_wait_seconds = default_seconds;
  std::string lock_id{};
  std::string workflow_id{};
  std::string workflow_name{};
};

struct Lock {
  std::uint64_t count = 1;
  std::string scope;
  std::string lock_id;
  std::string key;       // "n8n-lock-<scope>"
  std::string meta_key;  // "n8n-lock-<scope>:meta"
  std::string workflow_id;
  std::string workflow_name;
  std::string execution_id;
  std::string locked_at;  // when it was granted, by the store's clock: "2026-11-16T03:45:12.345Z"
  Fence fence = 0;        // 0 if the store could not be asked
};

// Waits in line. Errors: busy ("Lock acquisition failed (fail-fast): …"), timed_out ("Lock
// acquisition timed out after …"), bad_input naming the field, and as Lockable::acquire.
Result<Lock> acquire(const Client& client, const LockRequest& request, std::stop_token stop = {});

struct Release {
  bool idempotent = false;  // there was nothing to release
  std::string scope;
  std::optional<std::string> lock_id;  // as it was given
};

// Errors: not_owner ("LOGIC ERROR: Lock held by …"), bad_input, unavailable. Without a lock_id only
// a lock that nobody holds is released. For a lock_id that is used again there is the fence: with
// it, a late copy of this leaves the next lock under the same lock_id alone.
Result<Release> release(const Client& client, std::string_view scope,
                        std::optional<std::string_view> lock_id,
                        std::optional<Fence> fence = std::nullopt);

struct RateRequest {
  std::string scope = "default";
  std::uint32_t limit = default_limit;
  std::int64_t window_seconds = default_window_seconds;
};

// A fixed window, by the store's clock; what is denied counts too. Errors: bad_input, unavailable.
Result<RateOutcome> check_rate(const Client& client, const RateRequest& request);

struct CleanUpRequest {
  std::string execution_id;  // of the execution that failed
  // Looked at even where the store cannot list its locks.
  std::vector<std::string> lock_scopes{};
};

struct CleanUp {
  std::vector<std::string> registered;  // scopes of the request that were released
  std::vector<std::string> found;       // others of the same execution that were released
  std::string reason;                   // why there was nothing to do; else empty
};

// Ends every lock of that execution, each in one step that looks at its owner, and no other.
// Errors: bad_input, unavailable (what was released before stays so).
Result<CleanUp> clean_up(const Client& client, const CleanUpRequest& request);

}  // namespace holdfast::n8n
