// SPDX-License-Identifier: Apache-2.0
//
// The floor of `file:`: LMDB with nothing around it, one write transaction for each call.
#pragma once

#include <lmdb.h>

#include <string>
#include <string_view>

namespace holdfast::bench {

class BareLmdb {
 public:
  enum class Sync { always, never, never_mapped };

  // LMDB's own locks are on: a floor for processes that share a file needs some.
  BareLmdb(const std::string& folder, Sync sync);
  BareLmdb(const BareLmdb&) = delete;
  BareLmdb& operator=(const BareLmdb&) = delete;
  ~BareLmdb();

  // Each ends the program if it fails.
  void put(std::string_view key, std::string_view value) const;
  void del(std::string_view key) const;

 private:
  MDB_txn* begin() const;

  MDB_env* env_ = nullptr;
  MDB_dbi dbi_ = 0;
};

}  // namespace holdfast::bench
