// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::backends::file {

// LMDB takes pointers to non-const for keys and values that it only reads.
inline MDB_val to_val(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}
inline std::string_view to_view(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

// One transaction, undone unless it is committed. Its calls answer LMDB's codes, 0 for success.
// Views into it are good until its next write.
class Txn {
 public:
  Txn(MDB_txn* txn, MDB_dbi dbi) noexcept : txn_(txn), dbi_(dbi) {}
  Txn(Txn&& other) noexcept : txn_(std::exchange(other.txn_, nullptr)), dbi_(other.dbi_) {}
  Txn& operator=(Txn&&) = delete;
  ~Txn() {
    if (txn_ != nullptr) mdb_txn_abort(txn_);
  }

  // MDB_NOTFOUND leaves `value` as it was.
  int get(std::string_view key, std::string_view& value) const {
    MDB_val wanted = to_val(key);
    MDB_val found{};
    const int failed = mdb_get(txn_, dbi_, &wanted, &found);
    if (failed == 0) value = to_view(found);
    return failed;
  }
  int put(std::string_view key, std::string_view value) {
    MDB_val name = to_val(key);
    MDB_val bytes = to_val(value);
    return mdb_put(txn_, dbi_, &name, &bytes, 0);
  }
  int del(std::string_view key) {
    MDB_val wanted = to_val(key);
    return mdb_del(txn_, dbi_, &wanted, nullptr);
  }
  int commit() { return mdb_txn_commit(std::exchange(txn_, nullptr)); }
  // Counts the commits of the store, whoever made them.
  std::size_t number() const { return mdb_txn_id(txn_); }

 private:
  friend class Cursor;
  MDB_txn* txn_;
  MDB_dbi dbi_;
};

// Walks over the records in the order of their keys. Must end before its transaction.
class Cursor {
 public:
  explicit Cursor(Txn& txn) { failed_ = mdb_cursor_open(txn.txn_, txn.dbi_, &cursor_); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor() {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
  }

  // To the first record at or after `key`. MDB_NOTFOUND at the end.
  int seek(std::string_view key) {
    key_ = to_val(key);
    return move(MDB_SET_RANGE);
  }
  int next() { return move(MDB_NEXT); }
  // The record under the cursor; `next` then goes to the one behind it.
  int del() { return mdb_cursor_del(cursor_, 0); }
  // Replaces the value of the record under the cursor.
  int put(std::string_view value) {
    // The key lies in the page that is about to change.
    const std::string key(this->key());
    key_ = to_val(key);
    MDB_val bytes = to_val(value);
    const int failed = mdb_cursor_put(cursor_, &key_, &bytes, MDB_CURRENT);
    key_ = {};
    return failed;
  }

  std::string_view key() const { return to_view(key_); }
  std::string_view value() const { return to_view(value_); }

 private:
  int move(MDB_cursor_op how) {
    if (failed_ != 0) return failed_;
    return mdb_cursor_get(cursor_, &key_, &value_, how);
  }

  MDB_cursor* cursor_ = nullptr;
  MDB_val key_{};
  MDB_val value_{};
  int failed_ = 0;
};

}  // namespace holdfast::backends::file
