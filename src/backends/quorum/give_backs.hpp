// SPDX-License-Identifier: Apache-2.0
//
// What one member still has to be told: releases that it did not answer. One of them is sent again
// and again; once it is heard, the others follow all at once.
#pragma once

#include "backends/quorum/member.hpp"
#include "runtime/runtime.hpp"

#include <deque>
#include <memory>
#include <mutex>

namespace holdfast::backends::quorum {

class GiveBacks : public std::enable_shared_from_this<GiveBacks> {
 public:
  GiveBacks(std::shared_ptr<store::Store> store, std::shared_ptr<runtime::Runtime> runtime,
            Micros timeout);

  struct Job {
    LockName name;
    model::Release what;
    LocalTime until{};  // then the lease has ended by itself
  };
  void add(Job job);

 private:
  static Task<bool> tell(std::shared_ptr<GiveBacks> self, Job job);
  static Task<bool> keep_telling(std::shared_ptr<GiveBacks> self);
  void put_off(Job job);
  std::optional<Job> front();
  void tell_all();

  const std::shared_ptr<store::Store> store_;
  const std::shared_ptr<runtime::Runtime> runtime_;
  const Micros timeout_;

  std::mutex mutex_;
  std::deque<Job> put_off_;     // guarded by mutex_
  bool is_being_told_ = false;  // guarded by mutex_
  bool said_so_ = false;        // guarded by mutex_; that they are too many
};

}  // namespace holdfast::backends::quorum
