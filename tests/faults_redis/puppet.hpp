// SPDX-License-Identifier: Apache-2.0
//
// Another process that takes locks as it is told, and can be stopped and killed. Make it before
// this one has threads; it never outlives its owner.
#pragma once

#include "faults_redis/caller.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

namespace holdfast::faults {

class Puppet {
 public:
  enum class Verb : std::uint8_t { open, acquire, is_valid, release, end };
  struct Order {
    Verb verb = Verb::end;
    char url[64] = {};
    history::NameId name = 1;
    std::int64_t ttl_us = 0;
    std::int64_t wait_us = 0;
  };
  struct Answer {
    bool good = false;  // opened, acquired, valid, released
    Time at = 0;
  };

  Puppet(SharedLog& log, ProcessId process);
  Puppet(const Puppet&) = delete;
  Puppet& operator=(const Puppet&) = delete;
  ~Puppet() { kill(); }

  void open(const std::string& url);
  void acquire(history::NameId name, Micros ttl, Micros wait);
  void tell(const Order& order) const;
  // The answer to the oldest order that has none yet; nothing if it does not come. The patience is
  // meant for an idle machine.
  std::optional<Answer> hear(Micros patience = std::chrono::seconds(10)) const;
  // Whether it was good.
  bool hears_good(Micros patience = std::chrono::seconds(10)) const;

  void stop();  // returns when it has stopped
  void cont();
  void kill();  // -9, and it is gone
  ProcessId process() const { return process_; }

 private:
  int obey() const;

  SharedLog& log_;
  const ProcessId process_;
  int orders_[2]{};
  int answers_[2]{};
  pid_t pid_ = 0;
  Time stopped_at_ = 0;
};

}  // namespace holdfast::faults
