// SPDX-License-Identifier: Apache-2.0
#include "cli/look/gather.hpp"

#include "cli/look/lock_text.hpp"

#include <iterator>

namespace holdfast::cli {

Result<Gathered> gather(const Client& client, std::string prefix, std::stop_token stop) {
  Gathered all;
  std::string cursor;
  do {
    if (stop.stop_requested()) return fail(Errc::cancelled, "the listing was cancelled");
    auto page = client.list({.prefix = prefix, .cursor = cursor, .limit = max_page});
    if (!page) return std::unexpected(std::move(page.error()));
    std::ranges::move(page->locks, std::back_inserter(all.locks));
    cursor = std::move(page->next);
  } while (!cursor.empty() && all.locks.size() < max_listed);
  all.is_complete = cursor.empty() && all.locks.size() <= max_listed;
  if (all.locks.size() > max_listed) all.locks.resize(max_listed);
  sort_by_age(all.locks);
  return all;
}

}  // namespace holdfast::cli
