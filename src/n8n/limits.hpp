// SPDX-License-Identifier: Apache-2.0
//
// What a workflow, its environment file and the options about them may be; docs/limits.md has the
// list.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::n8n {

inline constexpr std::size_t max_workflow_bytes = 16UL * 1024 * 1024;
inline constexpr std::size_t max_workflow_nodes = 10'000;
inline constexpr std::size_t max_workflow_depth = 100;
inline constexpr std::size_t max_env_bytes = 1024UL * 1024;
inline constexpr std::size_t max_doctor_files = 10'000;
inline constexpr std::size_t max_fixed_scope_bytes = 400;
inline constexpr std::size_t max_expression_bytes = 4096;

// Ten years: with more, Redis could refuse the expiry behind an INCR that has already happened.
inline constexpr std::int64_t max_workflow_seconds = 315'360'000;
inline constexpr std::int64_t max_workflow_limit = 1'000'000'000;

inline constexpr std::int64_t default_lock_ttl_seconds = 86'400;
inline constexpr std::int64_t default_lock_wait_seconds = 86'400;

}  // namespace holdfast::n8n
