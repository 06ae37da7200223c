// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/task.hpp>

#include "net/resp/endpoint.hpp"
#include "net/resp/link.hpp"
#include "net/resp/login.hpp"
#include "net/resp/parser.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "runtime/loop_runtime.hpp"
#include "runtime/spawn.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::net::resp {

// Keeps one logged-in link to a server: connects, logs in, reads, and connects again after a loss.
// What the replies mean is its owner's business.
class Session : public std::enable_shared_from_this<Session> {
 public:
  // All on the loop's thread.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void connecting() = 0;
    virtual Opening greeting() = 0;
    virtual Result<void> greeted(std::vector<Reply> replies) = 0;  // an error: not this server
    virtual void came_up(std::shared_ptr<Link> link) = 0;
    // Bytes came, but no whole reply.
    virtual void heard() {}
    // An error ends the link.
    virtual Result<void> received(std::vector<Reply>& replies) = 0;
    // The link that came up is lost; the next attempt begins at once, or after `backing_off`.
    virtual void went_down(const Error& why) = 0;
    // The next attempt will begin after a while.
    virtual void backing_off(const Error& why) = 0;
  };

  Session(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint, std::weak_ptr<Owner> owner);

  // From any thread, once.
  void start();
  // On the loop's thread. Ends this link, with all that has not left by it. A server that is to
  // blame, being the wrong one, is tried again after a delay.
  void drop(Error why, bool server_is_to_blame = false);
  // On the loop's thread. Nothing is called any more after it; what was sent still arrives.
  void close();

  const std::string& peer() const { return peer_; }
  Error error(std::string_view reason) const;

 private:
  static runtime::Detached live(std::shared_ptr<Session> self);
  Task<bool> live_once();
  Task<Result<void>> establish();
  Task<Result<std::vector<Reply>>> exchange(Opening opening);
  Task<Error> read_until_lost();
  Task<Result<void>> read_more();
  Result<void> take_in(const boost::system::error_code& failed, std::size_t bytes);
  Result<void> hand_over_replies();
  // Whether a link that ended as this one did is worth an immediate attempt.
  bool may_retry_at_once(runtime::LocalTime up_since);
  const runtime::Backoff& pace() const;
  void give_up_attempt(Error why);
  std::shared_ptr<Owner> owner() const { return is_closed_ ? nullptr : owner_.lock(); }
  Error with_hint(Error error) const;
  std::unexpected<Error> broken(std::string_view reason) const;

  const std::shared_ptr<runtime::Runtime> runtime_;
  boost::asio::io_context& context_;
  const Endpoint endpoint_;
  const std::string peer_;
  const std::weak_ptr<Owner> owner_;

  // All below belongs to the loop's thread.
  std::shared_ptr<Link> link_;
  std::optional<Parser> parser_;
  std::array<char, std::size_t{64} << 10> received_;
  std::optional<Error> why_;  // why this link ends
  bool server_is_to_blame_ = false;
  bool has_greeted_ = false;
  bool has_answered_ = false;
  bool is_closed_ = false;
  unsigned failures_ = 0;
  runtime::Event closing_;
};

}  // namespace holdfast::net::resp
