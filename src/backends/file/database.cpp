// SPDX-License-Identifier: Apache-2.0
#include "backends/file/database.hpp"

#include "backends/file/database_header.hpp"
#include "backends/file/places.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace holdfast::backends::file {

namespace {

unsigned flags_of(const DatabaseOptions& options) {
  unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NORDAHEAD;
  if (!options.durable) flags |= MDB_NOSYNC;
  if (options.mapped_writes) flags |= MDB_WRITEMAP;
  return flags;
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const Folder& folder, DatabaseOptions options) {
  std::unique_ptr<Database> database(new Database(folder, std::move(options)));
  const bool exists = folder.has(database->options_.name);
  if (auto opened = exists ? database->open_existing() : database->create(); !opened) {
    return std::unexpected(std::move(opened.error()));
  }
  return database;
}

Database::~Database() {
  if (env_ != nullptr) mdb_env_close(env_);
}

Result<void> Database::open_existing() {
  const auto& name = options_.name;
  const Descriptor fd(openat(folder_.fd(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat found{};
  if (!fd || fstat(fd.get(), &found) != 0) {
    return folder_.failure_of(fmt::format("{} cannot be opened", name), errno);
  }
  const auto bytes = static_cast<std::size_t>(found.st_size);
  if (auto problem = problem_of_database(fd.get(), bytes)) {
    return folder_.failure(Errc::unavailable, fmt::format("{} {}", name, *problem));
  }
  if (auto opened = open_file(name, bytes); !opened) return opened;
  auto txn = begin();
  if (!txn) return std::unexpected(std::move(txn.error()));
  auto meta = read_meta(*txn);
  if (meta) return {};
  return folder_.failure(Errc::unavailable, fmt::format("{} {}", name, meta.error().message));
}

// Made under another name: whoever is killed on the way leaves nothing that looks finished.
Result<void> Database::create() {
  const std::string unfinished = temporary_name(options_.name);
  unlinkat(folder_.fd(), unfinished.c_str(), 0);
  auto made = open_file(unfinished, options_.initial_bytes);
  if (made) made = fill();
  if (made &&
      renameat(folder_.fd(), unfinished.c_str(), folder_.fd(), options_.name.c_str()) != 0) {
    made = folder_.failure_of("the database cannot be named", errno);
  }
  if (!made) unlinkat(folder_.fd(), unfinished.c_str(), 0);
  if (made && durable() && fsync(folder_.fd()) != 0) {
    made = folder_.failure_of("the folder cannot be synchronised", errno);
  }
  return made;
}

Result<void> Database::fill() {
  if (auto allocated = allocate(map_bytes_); !allocated) return allocated;
  auto txn = begin();
  if (!txn) return std::unexpected(std::move(txn.error()));
  if (const int failed = write_meta(*txn, {.boot_id = options_.boot_id})) {
    return failure_of("the database cannot be filled", failed);
  }
  if (const int failed = txn->commit()) return failure_of("the database cannot be filled", failed);
  return {};
}

// The map is as large as the file, always: the one who makes it larger does so with the lock held,
// and LMDB, which cuts a file to its map, then finds nothing to cut.
Result<void> Database::open_file(const std::string& name, std::size_t map_bytes) {
  if (!within_file_size_limit(map_bytes)) return failure_of("the database", EFBIG);
  if (const int failed = mdb_env_create(&env_)) return failure_of("the database", failed);
  mdb_env_set_mapsize(env_, map_bytes);
  map_bytes_ = map_bytes;
  if (const int failed =
          mdb_env_open(env_, folder_.path_of(name).c_str(), flags_of(options_), 0600)) {
    return failure_of(fmt::format("{} cannot be opened", name), failed);
  }
  // LMDB leaves this one open to the programs that ours starts.
  fcntl(fd(), F_SETFD, FD_CLOEXEC);
  MDB_txn* txn = nullptr;
  int failed = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
  if (failed == 0) {
    failed = mdb_dbi_open(txn, nullptr, 0, &dbi_);
    mdb_txn_abort(txn);
  }
  if (failed != 0) return failure_of(fmt::format("{} cannot be read", name), failed);
  return {};
}

Result<Txn> Database::begin() {
  MDB_txn* txn = nullptr;
  int failed = mdb_txn_begin(env_, nullptr, 0, &txn);
  if (failed == MDB_MAP_RESIZED) {
    auto bytes = file_bytes();
    if (!bytes) return std::unexpected(std::move(bytes.error()));
    failed = mdb_env_set_mapsize(env_, map_bytes_ = *bytes);
    if (failed == 0) failed = mdb_txn_begin(env_, nullptr, 0, &txn);
  }
  if (failed != 0) return failure_of("no transaction can begin", failed);
  return Txn(txn, dbi_);
}

Result<void> Database::grow() {
  auto bytes = file_bytes();
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  if (*bytes <= map_bytes_) {
    *bytes = std::min(map_bytes_ * 2, options_.max_bytes);
    if (*bytes <= map_bytes_) {
      return folder_.failure(
          Errc::unavailable,
          fmt::format("the store is full: max_store_bytes, {} MiB, are the limit",
                      options_.max_bytes >> 20U));
    }
    if (auto allocated = allocate(*bytes); !allocated) return allocated;
  }
  map_bytes_ = *bytes;
  if (const int failed = mdb_env_set_mapsize(env_, *bytes)) {
    return failure_of("the database cannot grow", failed);
  }
  return {};
}

Result<void> Database::allocate(std::size_t bytes) {
  const int failed = Folder::allocate(fd(), bytes);
  if (failed == 0) return {};
  return failure_of(fmt::format("no room for a database of {} KiB", bytes >> 10U), failed);
}

Result<std::size_t> Database::file_bytes() const {
  int fd = -1;
  mdb_env_get_fd(env_, &fd);
  struct stat found{};
  if (fstat(fd, &found) != 0) return failure_of("the database cannot be looked at", errno);
  return static_cast<std::size_t>(found.st_size);
}

bool Database::is_sound() const {
  MDB_txn* txn = nullptr;
  const int failed = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
  if (failed == 0) mdb_txn_abort(txn);
  return failed != MDB_PANIC;
}

bool Database::is_deleted() const {
  int fd = -1;
  mdb_env_get_fd(env_, &fd);
  struct stat found{};
  return fstat(fd, &found) != 0 || found.st_nlink == 0;
}

int Database::fd() const {
  int fd = -1;
  mdb_env_get_fd(env_, &fd);
  return fd;
}

std::unexpected<Error> Database::failure_of(std::string_view what, int code) const {
  return folder_.failure(Errc::unavailable, fmt::format("{}: {}", what, mdb_strerror(code)));
}

}  // namespace holdfast::backends::file
