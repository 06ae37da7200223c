// SPDX-License-Identifier: Apache-2.0
//
// Leases that ended without anybody asking again leave records behind. Every so many commits of the
// store, whoever makes them, a few records are looked at, going round and round: no thread and no
// timer, and what is left behind never outgrows what is in use by much.
#pragma once

#include "backends/file/txn.hpp"
#include "model/lock_state.hpp"

#include <cstddef>

namespace holdfast::backends::file {

inline constexpr std::size_t commits_between_sweeps = 32;
inline constexpr std::size_t records_per_sweep = 64;

// LMDB's code.
int sweep_now_and_then(Txn& txn, model::StoreTime now);
int sweep(Txn& txn, model::StoreTime now);

}  // namespace holdfast::backends::file
