// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::server {

// One wait through this server. It can be ended from outside to break a deadlock.
struct Wait {
  std::string name;
  std::uint64_t party = 0;  // model::party_of its owner
  std::stop_source stop;
  std::atomic<bool> is_victim{false};
};

// Who waits through this server: counted by name and in total. A place is kept by its ticket.
class WaitingRoom {
 public:
  WaitingRoom(std::size_t max_per_name, std::size_t max_total)
      : max_per_name_(max_per_name), max_total_(max_total) {}
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept
        : room_(std::exchange(other.room_, nullptr)), wait_(std::move(other.wait_)) {}
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (room_ != nullptr) room_->leave(*wait_);
    }
    const std::shared_ptr<Wait>& wait() const { return wait_; }

   private:
    friend class WaitingRoom;
    Ticket(WaitingRoom& room, std::shared_ptr<Wait> wait) : room_(&room), wait_(std::move(wait)) {}
    WaitingRoom* room_ = nullptr;
    std::shared_ptr<Wait> wait_;
  };

  // Errors: limit_reached, naming the limit. The room outlives its tickets.
  Result<Ticket> enter(std::string_view name, std::uint64_t party);
  // Ends one wait of that party for that name with `deadlock`. False if it is not one of ours.
  bool end_victim(std::string_view name, std::uint64_t party);
  std::size_t waiters() const { return total_.load(std::memory_order_relaxed); }

 private:
  void leave(const Wait& wait);

  using Line = std::multimap<std::uint64_t, std::shared_ptr<Wait>>;  // by party

  const std::size_t max_per_name_;
  const std::size_t max_total_;
  std::atomic<std::size_t> total_{0};
  std::mutex mutex_;
  std::map<std::string, Line, std::less<>> by_name_;  // guarded by mutex_
};

}  // namespace holdfast::server
