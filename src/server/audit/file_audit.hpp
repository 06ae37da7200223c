// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/audit/audit_files.hpp"
#include "server/audit/audit_log.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::server {

// JSON lines in a file that is rotated by its size. A thread of its own writes; while the disk is
// full, entries wait in a bounded queue, and those that find no room there are counted.
class FileAudit : public AuditLog {
 public:
  static Result<std::unique_ptr<AuditLog>> open(const AuditOptions& options,
                                                std::size_t max_queued = 16'384);
  // Makes one more attempt to write what waits.
  ~FileAudit() override;

  void append(AuditEntry entry) override;
  Result<AuditPage> page(const AuditQuery& query) override;
  void reopen() override;
  bool flush(std::chrono::milliseconds timeout) override;
  AuditStats stats() const override;

 private:
  using Numbered = std::pair<std::uint64_t, AuditEntry>;

  FileAudit(const AuditOptions& options, std::size_t max_queued);
  Result<void> start();
  std::uint64_t last_seq() const;

  void write_until_stopped();
  // Both return what was not written.
  std::vector<std::string> write(std::vector<std::string> lines);
  struct Some {
    std::size_t lines = 0;
    bool is_whole = false;  // no trouble kept a line back
  };
  // As many as the file has room for, at least one.
  Some write_some(std::span<const std::string> lines);
  void tell_trouble(const std::string& trouble);
  void add_dropped(WallTime now);

  const AuditOptions options_;
  const std::size_t max_queued_;

  std::mutex files_mutex_;  // held while writing; never together with mutex_ by who appends
  AuditFiles files_;

  mutable std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  std::vector<Numbered> queue_;
  std::size_t in_hand_ = 0;  // taken from the queue, not yet written
  std::uint64_t next_seq_ = 0;
  std::uint64_t untold_ = 0;  // dropped, and no entry says so yet
  AuditStats stats_;
  bool reopen_ = false;
  bool stopping_ = false;
  bool warned_ = false;

  std::thread writer_;
};

}  // namespace holdfast::server
