// SPDX-License-Identifier: Apache-2.0
//
// What is known of something that should happen once: a run under an idempotency key, and what is
// kept of it.
#pragma once

#include <holdfast/names.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

inline constexpr std::size_t max_run_key_bytes = 400;
inline constexpr std::size_t max_fingerprint_bytes = 256;
inline constexpr std::size_t max_answer_bytes = std::size_t{256} * 1024;  // of Answer::body
inline constexpr std::size_t max_answer_header_bytes = std::size_t{16} * 1024;
inline constexpr std::size_t max_failure_bytes = 1024;
inline constexpr std::chrono::microseconds min_guard = std::chrono::milliseconds(100);
inline constexpr std::chrono::microseconds max_guard = std::chrono::hours(24);
inline constexpr std::chrono::microseconds default_guard = std::chrono::seconds(30);
inline constexpr std::chrono::microseconds min_answer_ttl = std::chrono::seconds(1);
inline constexpr std::chrono::microseconds max_answer_ttl = std::chrono::days(31);
inline constexpr std::chrono::microseconds default_answer_ttl = std::chrono::hours(24);
inline constexpr std::chrono::microseconds default_keep_failure = std::chrono::seconds(30);

// What a run came to, kept to be replayed. The bytes are returned as they were given.
struct Answer {
  std::uint16_t status = 200;  // of HTTP, 100 to 599; for others a number of their own
  std::string headers{};       // a JSON object of texts, or empty
  std::string body{};          // JSON, if NestJS RedisX is to replay it
  friend bool operator==(const Answer&, const Answer&) = default;
};

// What is found under a key. Of the first two the caller has a run now, of the others not.
enum class RunFound : std::uint8_t {
  nothing = 1,  // it has not happened: a run may begin, or has just begun
  abandoned,    // a run began and gave no sign of life for its guard: it may or may not have acted
  in_progress,  // a run is under way
  completed,    // it has happened, and its answer is known
  failed,       // it has failed, and its words are known
  mismatch,     // the key belongs to something with another fingerprint
};

// The stable words: "nothing", "abandoned", "in_progress", "completed", "failed", "mismatch".
std::string_view to_string(RunFound found) noexcept;

}  // namespace holdfast
