// SPDX-License-Identifier: Apache-2.0
//
// Where the server writes down who did what. Locks never wait for it.
#pragma once

#include <holdfast/error.hpp>

#include "server/audit/entry.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::server {

struct AuditOptions;

inline constexpr std::size_t max_audit_page = 1'000;

// What an entry is chosen by.
struct AuditFacts {
  std::string_view name;
  std::string_view what;
  std::string_view principal;
  std::string_view at;  // as text::format_time writes it
};

struct AuditQuery {
  std::optional<std::uint64_t> cursor{};  // AuditPage::next of the page before
  std::size_t limit = 100;                // 1 to max_audit_page
  std::string prefix{};                   // of the lock's name; empty: also entries without one
  std::string what{};                     // empty: whatever it was
  std::string principal{};                // empty: whoever it was
  std::string since{};                    // text::format_time; empty: from the beginning
  std::string until{};                    // the same, left out itself; empty: to the end
  std::function<bool(std::string_view name)> allowed{};  // null: every name

  // Entries without a name concern the server itself: `allowed` is asked with an empty name.
  bool fits(const AuditFacts& entry) const;
};

struct AuditPage {
  std::vector<boost::json::object> entries;  // the newest first
  // Where the next page begins; empty: this was the last one. A page may be short, even empty, and
  // have a next one: a page looks at a bounded part of the log.
  std::optional<std::uint64_t> next;
  std::size_t unreadable = 0;  // lines that were skipped, for example torn by a crash
};

struct AuditStats {
  std::uint64_t written = 0;
  std::uint64_t dropped = 0;  // there was no room for them; an entry says how many
  std::uint64_t torn = 0;     // lines found cut short when the file was opened
  bool failing = false;       // the last attempt to write failed
};

class AuditLog {
 public:
  virtual ~AuditLog() = default;

  // Never blocks on a disk. From any thread.
  virtual void append(AuditEntry entry) = 0;

  // Reads files: not for a thread that serves others. Shows what was appended before, unless the
  // disk is slow. Errors: bad_input for a limit out of range, unavailable.
  virtual Result<AuditPage> page(const AuditQuery& query) = 0;

  // The file was moved away by somebody else: open it again before the next write.
  virtual void reopen() {}

  // Waits until everything appended so far is written; false if it was not in that time.
  virtual bool flush(std::chrono::milliseconds) { return true; }

  virtual AuditStats stats() const = 0;
};

// With a file: unavailable if it cannot be opened. Without: the newest entries, in memory.
Result<std::unique_ptr<AuditLog>> make_audit_log(const AuditOptions& options);

}  // namespace holdfast::server
