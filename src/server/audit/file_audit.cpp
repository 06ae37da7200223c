// SPDX-License-Identifier: Apache-2.0
#include "server/audit/file_audit.hpp"

#include "runtime/clock.hpp"
#include "runtime/log.hpp"
#include "server/audit/backwards.hpp"
#include "server/wall_clock.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace holdfast::server {
namespace {

constexpr auto retry_after = std::chrono::seconds(1);

}  // namespace

Result<std::unique_ptr<AuditLog>> FileAudit::open(const AuditOptions& options,
                                                  std::size_t max_queued) {
  std::unique_ptr<FileAudit> audit(new FileAudit(options, max_queued));
  if (auto started = audit->start(); !started) return std::unexpected(started.error());
  return audit;
}

FileAudit::FileAudit(const AuditOptions& options, std::size_t max_queued)
    : options_(options), max_queued_(max_queued), files_(options) {}

Result<void> FileAudit::start() {
  if (auto opened = files_.open(); !opened) return opened;
  if (files_.was_torn()) ++stats_.torn;
  // By the clock where the files are gone: a cursor must never mean another entry.
  next_seq_ = std::max(last_seq() + 1, runtime::wall_clock_us());
  writer_ = std::thread([this] { write_until_stopped(); });
  return {};
}

std::uint64_t FileAudit::last_seq() const {
  for (const auto& file : files_.readable()) {
    Backwards lines(file.file, file.size);
    while (const auto line = lines.line()) {
      if (const auto seq = seq_of(*line)) return *seq;
    }
  }
  return 0;
}

FileAudit::~FileAudit() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (writer_.joinable()) writer_.join();
}

void FileAudit::append(AuditEntry entry) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() + in_hand_ >= max_queued_) {
      ++stats_.dropped;
      ++untold_;
      return;
    }
    add_dropped(entry.at);
    queue_.emplace_back(next_seq_++, std::move(entry));
  }
  changed_.notify_all();
}

// As soon as there is room, the log says what it lacks, and where.
void FileAudit::add_dropped(WallTime now) {
  const auto count = std::exchange(untold_, 0);
  if (count == 0) return;
  AuditEntry entry{.at = now, .what = "entries_dropped", .reason = fmt::format("{}", count)};
  queue_.emplace_back(next_seq_++, std::move(entry));
}

void FileAudit::write_until_stopped() {
  std::vector<std::string> lines;
  std::unique_lock lock(mutex_);
  while (true) {
    const auto has_work = [this] { return stopping_ || reopen_ || !queue_.empty(); };
    // What failed is tried again after a while, or when somebody has made room for it.
    if (lines.empty()) {
      changed_.wait(lock, has_work);
    } else {
      changed_.wait_for(lock, retry_after, [this] { return stopping_ || reopen_; });
    }
    const bool last = stopping_;
    const bool reopen = std::exchange(reopen_, false);
    const auto taken = std::exchange(queue_, {});
    in_hand_ += taken.size() + (reopen ? 1 : 0);
    lock.unlock();
    for (const auto& [seq, entry] : taken) {
      lines.push_back(boost::json::serialize(to_json(entry, seq)));
    }
    if (reopen) {
      const std::lock_guard files(files_mutex_);
      if (auto opened = files_.open(); !opened) tell_trouble(opened.error().message);
    }
    lines = write(std::move(lines));
    lock.lock();
    in_hand_ = lines.size();
    if (untold_ > 0 && in_hand_ == 0) add_dropped(wall_now());
    changed_.notify_all();
    if (last && (queue_.empty() || !lines.empty())) break;
  }
  if (lines.empty()) return;
  lock.unlock();
  runtime::log_warning(
      fmt::format("{} entries of the audit log {} are lost", lines.size(), options_.file));
}

std::vector<std::string> FileAudit::write(std::vector<std::string> lines) {
  std::size_t done = 0;
  while (done < lines.size()) {
    const auto written = write_some(std::span(lines).subspan(done));
    done += written.lines;
    if (!written.is_whole) break;
  }
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(done));
  return lines;
}

FileAudit::Some FileAudit::write_some(std::span<const std::string> lines) {
  std::string trouble;
  AuditFiles::Written written;
  std::size_t fitting = 1;
  {
    const std::lock_guard files(files_mutex_);
    Result<void> ready;
    if (!files_.is_open()) {
      ready = files_.open();
    } else if (files_.is_full(lines.front().size() + 1)) {
      ready = files_.rotate();
    }
    if (!ready) trouble = ready.error().message;
    // A file that cannot be rotated is better too long than unwritten.
    if (files_.is_open()) {
      fitting = files_.count_fitting(lines);
      written = files_.write(lines.first(fitting));
    }
    if (!written.trouble.empty()) trouble = written.trouble;
  }
  if (!trouble.empty()) tell_trouble(trouble);
  const std::lock_guard lock(mutex_);
  stats_.written += written.lines;
  stats_.failing = written.lines < fitting;
  if (trouble.empty()) warned_ = false;
  return {.lines = written.lines, .is_whole = !stats_.failing};
}

// Once until it goes well again: a full disk must not fill the log as well.
void FileAudit::tell_trouble(const std::string& trouble) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(warned_, true)) return;
  }
  runtime::log_warning(fmt::format("the audit log {} cannot be written: {}; entries wait in memory",
                                   options_.file, trouble));
}

void FileAudit::reopen() {
  {
    const std::lock_guard lock(mutex_);
    reopen_ = true;
  }
  changed_.notify_all();
}

bool FileAudit::flush(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout,
                           [this] { return queue_.empty() && in_hand_ == 0 && !reopen_; });
}

AuditStats FileAudit::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace holdfast::server
