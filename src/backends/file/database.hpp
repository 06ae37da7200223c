// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/folder.hpp"
#include "backends/file/meta_record.hpp"
#include "backends/file/txn.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace holdfast::backends::file {

struct DatabaseOptions {
  std::string name;  // of the file in the folder
  BootId boot_id{};
  bool durable = false;
  // Commits copy into the mapping instead of calling the kernel: ten times as fast. Only for
  // files that need not reach the disk, where allocated space is kept.
  bool mapped_writes = false;
  std::size_t initial_bytes = 0;
  std::size_t max_bytes = 0;
};

// LMDB, without any of its locks: everything here needs the writer lock. That one has a deadline,
// and LMDB's have not. All space of the file is allocated when the file is made or grows, so a full
// disk stops it from growing and can never stop or kill a step that needs no more room.
class Database {
 public:
  // Opens the file, or makes it. Errors: unavailable, also for a file that is not ours, damaged or
  // of another version; such a file is left as it is.
  static Result<std::unique_ptr<Database>> open(const Folder& folder, DatabaseOptions options);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Errors: unavailable.
  Result<Txn> begin();
  // Twice the room, or what another process has already made. No transaction may be open. Errors:
  // unavailable.
  Result<void> grow();

  bool durable() const noexcept { return options_.durable; }
  const BootId& boot_id() const noexcept { return options_.boot_id; }
  // For whoever puts a value together, so that not every step has to allocate.
  std::string& scratch() noexcept { return scratch_; }
  // False once a commit failed half-way: LMDB then refuses to go on with what it has in memory.
  bool is_sound() const;
  bool is_deleted() const;

 private:
  Database(const Folder& folder, DatabaseOptions options)
      : folder_(folder), options_(std::move(options)) {}
  Result<void> open_existing();
  Result<void> create();
  Result<void> open_file(const std::string& name, std::size_t map_bytes);
  Result<void> fill();
  Result<void> allocate(std::size_t bytes);
  Result<std::size_t> file_bytes() const;
  int fd() const;
  std::unexpected<Error> failure_of(std::string_view what, int code) const;

  const Folder& folder_;
  const DatabaseOptions options_;
  MDB_env* env_ = nullptr;
  MDB_dbi dbi_ = 0;
  std::size_t map_bytes_ = 0;
  std::string scratch_;
};

}  // namespace holdfast::backends::file
