// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/file/database.hpp"
#include "backends/file/folder.hpp"
#include "backends/file/steps.hpp"
#include "backends/file/wake_file.hpp"
#include "backends/file/writer_lock.hpp"
#include "store/store.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace holdfast::backends::file {

struct EnvironmentOptions {
  std::string path;
  bool durable = false;
  std::string boot_id;  // 36 characters; empty: of the running kernel
  std::optional<std::chrono::nanoseconds> boot_clock;  // its offset; empty: of this process
  std::size_t initial_bytes = std::size_t{1} << 20U;
  std::size_t max_bytes = std::size_t{1} << 30U;  // max_store_bytes
  std::optional<bool> mapped_writes;              // empty: where they are safe
};

// Everything this process has open of one store: the folder, the mapped wake file and the
// database. Used from any thread; not usable in a forked child, where even its destructor leaves
// all of it alone.
class Environment {
 public:
  // The folder is the one at options.path, and the boot id is given. Errors: bad_input,
  // unsupported, limit_reached, unavailable.
  static Result<std::shared_ptr<Environment>> open(EnvironmentOptions options, Folder folder,
                                                   const runtime::Runtime& runtime);
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment();

  // The right to be inside. Errors: unavailable, cancelled.
  Result<WriterLock> enter(const runtime::Runtime& runtime, const Patience& patience);
  // The same for `slice` at most; nothing if it could not be had.
  Result<std::optional<WriterLock>> enter_within(std::chrono::nanoseconds slice,
                                                 const runtime::Runtime& runtime);

  // Every step gets its reply, all in one transaction. Then lets go of the lock, and wakes whoever
  // was served.
  void run(WriterLock lock, std::span<PendingStep* const> steps);
  // One step, if it changes nothing; else false, and it has to be run.
  bool run_if_it_changes_nothing(WriterLock lock, PendingStep& step);
  Result<LockPage> list(WriterLock lock, const store::ListRequest& request);

  const WakeFile& wake() const noexcept { return wake_; }
  bool durable() const noexcept { return options_.durable; }
  // True once its files were deleted: new processes then meet in other ones.
  bool is_deleted() const;
  bool is_of_a_parent() const noexcept;
  std::string describe() const;
  std::unexpected<Error> failure(Errc code, std::string_view what) const;
  std::unexpected<Error> files_were_deleted() const;

 private:
  Environment(EnvironmentOptions options, Folder folder, WakeFile wake);
  Result<void> open_database(const runtime::Runtime& runtime);
  Result<void> check_process() const;
  Result<void> check_files(runtime::LocalTime now);

  const EnvironmentOptions options_;
  const Folder folder_;
  WakeFile wake_;
  std::unique_ptr<Database> database_;  // guarded by the writer lock
  const std::uint32_t generation_;
  runtime::LocalTime look_again_at_{};  // guarded by the writer lock
};

}  // namespace holdfast::backends::file
