// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::server {

// Counts who waits through this server, by name and in total. A place is kept by the ticket.
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
        : room_(std::exchange(other.room_, nullptr)), name_(std::move(other.name_)) {}
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (room_ != nullptr) room_->leave(name_);
    }

   private:
    friend class WaitingRoom;
    Ticket(WaitingRoom& room, std::string name) : room_(&room), name_(std::move(name)) {}
    WaitingRoom* room_ = nullptr;
    std::string name_;
  };

  // Errors: limit_reached, naming the limit. The room outlives its tickets.
  Result<Ticket> enter(std::string_view name);
  std::size_t waiters() const { return total_.load(std::memory_order_relaxed); }

 private:
  void leave(const std::string& name);

  const std::size_t max_per_name_;
  const std::size_t max_total_;
  std::atomic<std::size_t> total_{0};
  std::mutex mutex_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  // guarded by mutex_
};

}  // namespace holdfast::server
