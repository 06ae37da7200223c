// SPDX-License-Identifier: Apache-2.0
#include "support/bare_lmdb.hpp"

#include "support/bars.hpp"

namespace holdfast::bench {

namespace {

constexpr std::size_t map_bytes = std::size_t{16} << 20U;

void check(int code) {
  if (code != 0) give_up(mdb_strerror(code));
}

MDB_val to_val(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }

unsigned flags_of(BareLmdb::Sync sync) {
  switch (sync) {
    case BareLmdb::Sync::always: return 0;
    case BareLmdb::Sync::never: return MDB_NOSYNC;
    case BareLmdb::Sync::never_mapped: return MDB_NOSYNC | MDB_WRITEMAP;
  }
  return 0;
}

}  // namespace

BareLmdb::BareLmdb(const std::string& folder, Sync sync) {
  check(mdb_env_create(&env_));
  check(mdb_env_set_mapsize(env_, map_bytes));
  check(mdb_env_open(env_, folder.c_str(), flags_of(sync) | MDB_NORDAHEAD, 0600));
  MDB_txn* txn = begin();
  check(mdb_dbi_open(txn, nullptr, 0, &dbi_));
  check(mdb_txn_commit(txn));
}

BareLmdb::~BareLmdb() { mdb_env_close(env_); }

MDB_txn* BareLmdb::begin() const {
  MDB_txn* txn = nullptr;
  check(mdb_txn_begin(env_, nullptr, 0, &txn));
  return txn;
}

void BareLmdb::put(std::string_view key, std::string_view value) const {
  MDB_txn* txn = begin();
  MDB_val name = to_val(key);
  MDB_val bytes = to_val(value);
  check(mdb_put(txn, dbi_, &name, &bytes, MDB_NOOVERWRITE));
  check(mdb_txn_commit(txn));
}

void BareLmdb::del(std::string_view key) const {
  MDB_txn* txn = begin();
  MDB_val name = to_val(key);
  check(mdb_del(txn, dbi_, &name, nullptr));
  check(mdb_txn_commit(txn));
}

}  // namespace holdfast::bench
