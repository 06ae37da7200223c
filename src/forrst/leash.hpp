// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/runtime.hpp"

#include <list>
#include <memory>
#include <stop_token>

namespace holdfast::forrst {

// Stops when the first of several does.
class FirstStop {
 public:
  void add(std::stop_token token) {
    if (token.stop_possible()) reasons_.emplace_back(std::move(token), Stop{source_});
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Stop {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };
  std::stop_source source_;
  std::list<std::stop_callback<Stop>> reasons_;
};

// How long a function may go on: until a time, and until one of several things happens.
class Leash {
 public:
  Leash(std::shared_ptr<runtime::Runtime> runtime, runtime::LocalTime until)
      : runtime_(std::move(runtime)),
        timer_(runtime_->schedule(until, [source = source_]() mutable { source.request_stop(); })) {
  }
  Leash(const Leash&) = delete;
  Leash& operator=(const Leash&) = delete;
  ~Leash() { runtime_->cancel(timer_); }

  void ends_with(std::stop_token token) {
    if (token.stop_possible()) reasons_.emplace_back(std::move(token), Stop{runtime_, source_});
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  // From the runtime's thread, because this may resume whoever waits, and end it.
  struct Stop {
    std::shared_ptr<runtime::Runtime> runtime;
    std::stop_source source;
    void operator()() {
      runtime->post([source = source]() mutable { source.request_stop(); });
    }
  };

  const std::shared_ptr<runtime::Runtime> runtime_;
  std::stop_source source_;
  std::list<std::stop_callback<Stop>> reasons_;
  const runtime::TimerId timer_;
};

}  // namespace holdfast::forrst
