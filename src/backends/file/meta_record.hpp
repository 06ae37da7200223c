// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "backends/file/txn.hpp"
#include "model/lock_state.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace holdfast::backends::file {

inline constexpr std::uint32_t database_format = 1;
using BootId = std::array<char, 36>;

// What the store knows beside its locks.
struct MetaRecord {
  BootId boot_id{};
  Fence fence_bound = 0;         // no fence that was given out is larger
  model::StoreTime last_step{};  // kept up to date in durable stores only
};

// Before every record: machines have numbers from 1.
inline constexpr std::string_view meta_key{"\0meta", 5};
// Where the next sweep goes on (sweep.hpp).
inline constexpr std::string_view sweep_key{"\0sweep", 6};
inline constexpr std::string_view first_record_key{"\1", 1};

// Errors: unavailable, saying what is wrong with the record; the caller names the store.
Result<MetaRecord> read_meta(const Txn& txn);
// LMDB's code.
int write_meta(Txn& txn, const MetaRecord& meta);

}  // namespace holdfast::backends::file
