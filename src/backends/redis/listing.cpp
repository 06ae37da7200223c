// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/listing.hpp"

#include "backends/redis/record.hpp"
#include "net/resp/command.hpp"
#include "runtime/event.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>

namespace holdfast::backends::redis {

namespace {

using net::resp::command;
using net::resp::text_of;

constexpr std::uint32_t scan_count = 500;

// Where a listing goes on: the server's cursor, and the last name that was taken from its batch.
struct Position {
  std::uint64_t scan = 0;
  std::string after;
};

Result<Position> parse_cursor(std::string_view cursor) {
  if (cursor.empty()) return Position{};
  const auto slash = cursor.find('/');
  const auto scan = parse_digits(cursor.substr(0, slash));
  if (!scan || slash == std::string_view::npos) {
    return fail(Errc::bad_input, "cursor: must be the `next` of an earlier page");
  }
  return Position{*scan, std::string(cursor.substr(slash + 1))};
}

struct Batch {
  std::uint64_t next = 0;
  std::set<std::string> names;  // sorted, so that a page can end between two of them
};

std::optional<Batch> read_batch(const redisReply& reply, const Dialect& dialect) {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 2) return std::nullopt;
  const auto next = parse_digits(text_of(*reply.element[0]));
  if (!next) return std::nullopt;
  Batch batch{.next = *next, .names = {}};
  const redisReply& keys = *reply.element[1];
  for (std::size_t i = 0; i < keys.elements; ++i) {
    if (auto name = dialect.name_of_scanned(text_of(*keys.element[i])))
      batch.names.insert(name->str());
  }
  return batch;
}

Task<Result<Batch>> scan(std::shared_ptr<Server> server, std::uint64_t from, std::string pattern,
                         runtime::LocalTime deadline) {
  auto asking =
      server->ask(command("SCAN", std::to_string(from), "MATCH", pattern, "COUNT",
                          std::to_string(scan_count), "TYPE", server->dialect().scan_type()),
                  deadline);
  auto reply = co_await std::move(asking);
  if (!reply) co_return std::unexpected(std::move(reply.error()));
  auto batch = read_batch(**reply, server->dialect());
  if (!batch) co_return fail(Errc::unavailable, "the answer to SCAN makes no sense");
  co_return std::move(*batch);
}

// Asks for many locks at once; all questions leave in one write.
class Looks {
 public:
  Looks(std::shared_ptr<runtime::Runtime> runtime, std::size_t count)
      : done_(std::move(runtime)), views_(count), open_(count) {}

  static Task<Result<std::vector<LockView>>> at(std::shared_ptr<Server> server,
                                                std::vector<std::string> names,
                                                runtime::LocalTime deadline);

 private:
  void take(std::size_t index, Result<store::Reply> reply);

  runtime::Event done_;
  std::mutex mutex_;
  std::vector<LockView> views_;   // guarded by mutex_
  std::optional<Error> failure_;  // guarded by mutex_
  std::size_t open_;              // guarded by mutex_
};

void Looks::take(std::size_t index, Result<store::Reply> reply) {
  {
    const std::lock_guard lock(mutex_);
    if (reply) {
      auto& seen = std::get<model::Seen>(std::get<model::LockOutcome>(reply->outcome));
      views_[index] = std::move(seen.lock);
    } else if (reply.error().code != Errc::spec_mismatch) {
      // In a dialect, something else may have a name like a lock's.
      failure_ = std::move(reply.error());
    }
    if (--open_ > 0) return;
  }
  done_.notify();
}

// Locks that have ended meanwhile are left out.
Task<Result<std::vector<LockView>>> Looks::at(std::shared_ptr<Server> server,
                                              std::vector<std::string> names,
                                              runtime::LocalTime deadline) {
  std::vector<LockView> seen;
  if (names.empty()) co_return seen;
  const auto looks = std::make_shared<Looks>(server->runtime(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    store::Request request{.name = LockName::make(names[i]).value(),
                           .command = model::LockCommand{{}, model::Inspect{}},
                           .deadline = deadline};
    runtime::spawn(server->apply(std::move(request)),
                   [looks, i](Result<store::Reply>&& reply) { looks->take(i, std::move(reply)); });
  }
  co_await looks->done_.wait_until(runtime::LocalTime::max());
  const std::lock_guard lock(looks->mutex_);
  if (looks->failure_) co_return std::unexpected(std::move(*looks->failure_));
  for (std::size_t i = 0; i < names.size(); ++i) {
    LockView& view = looks->views_[i];
    if (view.holders.empty() && view.waiters.empty()) continue;
    view.name = std::move(names[i]);
    seen.push_back(std::move(view));
  }
  co_return seen;
}

}  // namespace

Task<Result<LockPage>> list_locks(std::shared_ptr<Server> server, store::ListRequest request) {
  auto position = parse_cursor(request.cursor);
  if (!position) co_return std::unexpected(std::move(position.error()));
  const std::string pattern = server->dialect().scan_pattern(request.prefix);
  LockPage page;
  while (true) {
    auto scanning = scan(server, position->scan, pattern, request.deadline);
    auto batch = co_await std::move(scanning);
    if (!batch) co_return std::unexpected(std::move(batch.error()));
    auto name = batch->names.upper_bound(position->after);
    while (name != batch->names.end() && page.locks.size() < request.limit) {
      std::vector<std::string> some;
      while (name != batch->names.end() && some.size() < request.limit - page.locks.size()) {
        some.push_back(*name++);
      }
      position->after = some.back();
      auto looking = Looks::at(server, std::move(some), request.deadline);
      auto seen = co_await std::move(looking);
      if (!seen) co_return std::unexpected(std::move(seen.error()));
      std::ranges::move(*seen, std::back_inserter(page.locks));
    }
    const bool batch_is_done = name == batch->names.end();
    if (batch_is_done && batch->next == 0) co_return page;
    if (batch_is_done) *position = Position{batch->next, {}};
    if (page.locks.size() == request.limit) {
      page.next = fmt::format("{}/{}", position->scan, position->after);
      co_return page;
    }
  }
}

}  // namespace holdfast::backends::redis
