// SPDX-License-Identifier: Apache-2.0
//
// What a Connection shares with the commands and callbacks that outlive it.
#pragma once

#include "net/resp/connection.hpp"
#include "net/resp/pipeline.hpp"
#include "net/resp/session.hpp"
#include "runtime/event.hpp"

#include <mutex>
#include <optional>
#include <vector>

namespace holdfast::net::resp {

// How often a connection looks for calls whose deadline has passed. Only those with less time than
// that have a timer of their own.
inline constexpr std::chrono::milliseconds between_looks{450};

class Connection::Shared final : public Session::Owner,
                                 public std::enable_shared_from_this<Connection::Shared> {
 public:
  enum class Why : std::uint8_t { deadline, stop };
  struct GiveUp {  // from any thread, at any time
    std::shared_ptr<Shared> shared;
    std::uint64_t ticket = 0;
    void operator()() const;
  };
  using StopWatch = std::optional<std::stop_callback<GiveUp>>;

  Shared(std::shared_ptr<runtime::Runtime> runtime, Endpoint endpoint, Events events);

  void make_session();
  void start();
  void close();
  bool is_of_a_parent() const;
  // Is never destroyed.
  void stay() { kept_ = shared_from_this(); }
  const std::string& peer() const { return peer_; }

  // True: the call is under way and its waiter will be resumed on the runtime's thread, perhaps
  // before this returns. False: the call has its answer.
  bool begin(Call& call, StopWatch& watch, std::stop_token stop);
  void forget_timer(const Call& call);
  void give_up(std::uint64_t ticket, Why why);

  void reconnect(Error why);
  void set_prepared(bool is_prepared);
  bool is_connected() const;
  // Notified when connected or closed; nothing if that is so already.
  std::shared_ptr<runtime::Event> wait_for_connection();
  void forget(const std::shared_ptr<runtime::Event>& event);
  Error last_error() const;

  void connecting() override;
  Opening greeting() override;
  Result<void> greeted(std::vector<Reply> replies) override;
  void came_up(std::shared_ptr<Link> link) override;
  void heard() override;
  Result<void> received(std::vector<Reply>& replies) override;
  void went_down(const Error& why) override;
  void backing_off(const Error& why) override;

 private:
  enum class State : std::uint8_t { connecting, up, backing_off, closed };
  using Lock = std::unique_lock<std::mutex>;

  // With the lock.
  std::optional<Error> refuse(const Call& call, LocalTime now, const std::stop_token& stop) const;
  void set_timer(Call& call);
  void flush(Lock& lock);
  void post_flush();
  std::optional<Pipeline::Batch> take_batch();
  void turn_away();
  // These let go of the lock while they write.
  void write_out(Lock& lock);
  void pump(Lock& lock, std::optional<Pipeline::Batch> batch);
  bool write_whole(Lock& lock, const std::shared_ptr<Link>& link, Pipeline::Batch& batch);

  void write_encrypted(std::shared_ptr<Pipeline::Batch> batch, std::shared_ptr<Link> link);
  void wait_until_writable(std::shared_ptr<Link> link);
  void drop(const std::shared_ptr<Link>& link, std::string_view reason);
  // The watch, while calls are under way.
  std::chrono::microseconds next_look() const;
  void look_again(LocalTime when);
  void look();
  void end();
  bool is_open() const;

  const std::shared_ptr<runtime::Runtime> runtime_;
  const Endpoint endpoint_;
  const std::string peer_;
  const Events events_;
  const std::uint32_t generation_;
  std::shared_ptr<Shared> kept_;      // in a forked child
  std::shared_ptr<Session> session_;  // set by `make_session`
  std::vector<Call*> done_;           // only inside `received`; keeps its room

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  State state_ = State::connecting;
  Error last_error_;
  Pipeline pipeline_;
  std::shared_ptr<Link> link_;  // while up
  bool is_prepared_ = false;    // this link; whatever waits for the next one must not rely on it
  bool flush_is_posted_ = false;
  LocalTime heard_at_{};       // when something last came over this link
  bool is_suspected_ = false;  // of being stalled, or late, at the last look
  runtime::TimerId watch_{};
  std::vector<std::shared_ptr<runtime::Event>> waiting_for_connection_;
};

}  // namespace holdfast::net::resp
