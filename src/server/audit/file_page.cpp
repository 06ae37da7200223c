// SPDX-License-Identifier: Apache-2.0
//
// How a page of the audit log is read from its files.
#include "server/audit/backwards.hpp"
#include "server/audit/file_audit.hpp"

#include <boost/json/parse.hpp>

#include <limits>
#include <optional>
#include <string_view>

namespace holdfast::server {
namespace {

namespace json = boost::json;

// A filter that nothing fits must not read the whole log at one request.
constexpr std::uint64_t max_bytes_per_page = 16 * 1024 * 1024;

// Nothing if it is none of our lines. Views into it.
std::optional<AuditFacts> facts_of(const json::value& line) {
  if (!line.is_object()) return std::nullopt;
  bool is_good = true;
  const auto text = [&](std::string_view key) -> std::string_view {
    const auto* found = line.get_object().if_contains(key);
    if (found == nullptr) return {};
    if (found->is_string()) return found->get_string();
    is_good = false;
    return {};
  };
  const AuditFacts facts{text("name"), text("what"), text("principal"), text("at")};
  return is_good ? std::optional(facts) : std::nullopt;
}

class PageReader {
 public:
  explicit PageReader(const AuditQuery& query)
      : query_(query), before_(query.cursor.value_or(std::numeric_limits<std::uint64_t>::max())) {}

  // False once the page is full.
  bool read(const ReadableFile& file) {
    Backwards lines(file.file, query_.cursor ? end_before(file, before_) : file.size);
    while (const auto line = lines.line()) {
      const auto read = bytes_ + lines.bytes_read();
      if (!take(*line, read > max_bytes_per_page)) return false;
    }
    bytes_ += lines.bytes_read();
    return true;
  }

  AuditPage page() && { return std::move(page_); }

 private:
  bool take(std::string_view line, bool is_enough) {
    const auto seq = seq_of(line);
    if (seq && *seq >= before_) return true;
    boost::system::error_code error;
    const auto parsed = json::parse(line, error);
    const auto facts = error ? std::nullopt : facts_of(parsed);
    if (!seq || !facts) {
      if (!line.empty()) ++page_.unreadable;
      return true;
    }
    before_ = *seq;
    const bool fits = query_.fits(*facts);
    const bool is_full = fits && page_.entries.size() == query_.limit;
    if (is_full || is_enough) {
      page_.next = *seq + 1;
      return false;
    }
    if (fits) page_.entries.push_back(parsed.as_object());
    return true;
  }

  const AuditQuery& query_;
  std::uint64_t before_;
  std::uint64_t bytes_ = 0;
  AuditPage page_;
};

}  // namespace

Result<AuditPage> FileAudit::page(const AuditQuery& query) {
  if (query.limit < 1 || query.limit > max_audit_page) {
    return fail(Errc::bad_input, "limit must be from 1 to 1000");
  }
  // Whoever did something wants to see it, but not wait for a disk that is full.
  if (!stats().failing) flush(std::chrono::milliseconds(200));
  std::vector<ReadableFile> files;
  {
    // Not while files are renamed or a line is half written.
    const std::lock_guard lock(files_mutex_);
    files = files_.readable();
  }
  PageReader reader(query);
  for (const auto& file : files) {
    if (!reader.read(file)) break;
  }
  return std::move(reader).page();
}

}  // namespace holdfast::server
