// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/task.hpp>

#include "backends/remote/answers.hpp"
#include "backends/remote/protocol.hpp"
#include "net/http/client.hpp"
#include "runtime/event.hpp"

#include <mutex>

namespace holdfast::backends::remote {

using runtime::LocalTime;

// The one stream on which a server tells this store's waiters. It is opened when first needed, and
// again whenever it breaks, until it is closed.
class MessageStream : public std::enable_shared_from_this<MessageStream> {
 public:
  // On the runtime's own thread.
  struct Events {
    std::function<void(const Line&)> told;
    // Open. If again, what was said meanwhile is lost.
    std::function<void(const std::string& server, bool again)> opened;
    // The connection was refused, broke or fell silent; an answer that refuses is none of these.
    std::function<void()> broken;
  };

  MessageStream(std::shared_ptr<runtime::Runtime> runtime,
                std::shared_ptr<net::http::Client> client, Asked asked, Events events);

  // Its name at the server. Errors: unavailable (with the reason), cancelled.
  Task<Result<std::string>> ready(LocalTime deadline, std::stop_token stop);
  // The name of the open stream; empty while there is none.
  std::string name() const;
  // The server does not know this stream any more: the next one.
  void restart(const std::string& name);
  void close();

 private:
  enum class State : std::uint8_t { unused, opening, open, pausing, closed };
  using EventPtr = std::shared_ptr<runtime::Event>;

  // Nothing if there is nothing to wait for.
  EventPtr begin_to_wait();
  Result<std::string> outcome() const;

  // On the runtime's thread.
  void connect();
  void heard(std::uint64_t attempt, std::string_view bytes);
  void take_line(std::uint64_t attempt, std::string_view text);
  void came_up(std::uint64_t attempt, std::string name, const std::string& server);
  // The connection is gone.
  void broke(std::uint64_t attempt, Error why);
  // The next attempt follows after a pause. False if it ended before.
  bool ended(std::uint64_t attempt, Error why);
  void watch(std::uint64_t attempt);

  const std::shared_ptr<runtime::Runtime> runtime_;
  const std::shared_ptr<net::http::Client> client_;
  const Asked asked_;
  const Events events_;
  std::string unread_;  // of the runtime's thread

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  State state_ = State::unused;
  std::string name_;
  Error last_error_;
  std::uint64_t attempt_ = 0;  // which stream an event belongs to
  unsigned failures_ = 0;
  bool was_open_ = false;
  LocalTime heard_at_{};
  std::unique_ptr<net::http::ClientStream> stream_;
  std::vector<EventPtr> waiting_;
};

}  // namespace holdfast::backends::remote
