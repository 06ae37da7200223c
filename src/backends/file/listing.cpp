// SPDX-License-Identifier: Apache-2.0
#include "backends/file/listing.hpp"

#include <holdfast/options.hpp>

#include "backends/file/record.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace holdfast::backends::file {

namespace {

Result<void> check(const store::ListRequest& request) {
  if (request.limit < 1 || request.limit > max_page) {
    return fail(Errc::bad_input, fmt::format("limit: must be 1 to {}", max_page));
  }
  if (!request.cursor.empty() && !LockName::make(request.cursor)) {
    return fail(Errc::bad_input, "cursor: must be the `next` of an earlier page");
  }
  return {};
}

int seek(Cursor& cursor, const store::ListRequest& request, std::string_view first) {
  if (request.cursor.empty()) return cursor.seek(first);
  const RecordKey after(request.machine, request.cursor);
  int failed = cursor.seek(after.bytes() < first ? first : after.bytes());
  if (failed == 0 && cursor.key() == after.bytes()) failed = cursor.next();
  return failed;
}

// The record's lock, if it is one that the listing wants to see.
std::optional<LockView> seen(const Record& record, std::string_view prefix, model::StoreTime now) {
  if (!record.name.starts_with(prefix)) return std::nullopt;
  const auto state = model::decode(record.state);
  if (!state || model::forgettable(*state, now)) return std::nullopt;
  return model::view(record.name, *state, now);
}

// Fills the page from where the cursor stands. LMDB's code, MDB_NOTFOUND at the end of the store.
int fill(LockPage& page, Cursor& cursor, const store::ListRequest& request, model::StoreTime now) {
  const std::string first = first_key(request.machine, request.prefix);
  std::string last_name;
  int failed = seek(cursor, request, first);
  for (std::size_t count = 0; failed == 0 && cursor.key().starts_with(first); ++count) {
    if (const auto record = parse_record(cursor.key(), cursor.value())) {
      auto lock = seen(*record, request.prefix, now);
      const bool no_room = lock && page.locks.size() == request.limit;
      if (no_room || count >= max_records_per_page) {
        page.next = std::move(last_name);
        return 0;
      }
      if (lock) page.locks.push_back(std::move(*lock));
      last_name = record->name;
    }
    failed = cursor.next();
  }
  return failed;
}

}  // namespace

Result<LockPage> list_locks(Database& database, const store::ListRequest& request,
                            model::StoreTime now) {
  if (auto checked = check(request); !checked) return std::unexpected(std::move(checked.error()));
  auto txn = database.begin();
  if (!txn) return std::unexpected(std::move(txn.error()));
  Cursor cursor(*txn);
  LockPage page;
  const int failed = fill(page, cursor, request, now);
  if (failed == 0 || failed == MDB_NOTFOUND) return page;
  return fail(Errc::unavailable, fmt::format("the list cannot be read: {}", mdb_strerror(failed)));
}

}  // namespace holdfast::backends::file
