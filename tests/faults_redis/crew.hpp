// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "faults_redis/load.hpp"

#include <sys/types.h>

namespace holdfast::faults {

// A load in a process of its own. Make it before this one has threads; it never outlives its owner.
class Crew {
 public:
  struct Counts {
    std::uint64_t grants = 0;
    std::uint64_t refusals = 0;
    std::uint64_t losses = 0;
    std::uint64_t increments = 0;
    std::uint64_t complaints = 0;
  };

  // The addresses come later, with start().
  Crew(SharedLog& log, LoadPlan plan, std::uint64_t seed);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() { kill(); }

  // Returns when it works; false if it could not open its clients.
  bool start(const std::string& url);
  void calm_down() const;
  // All zeros if it was killed or does not end. What it dropped may stay until its lease ends.
  Counts end();

  void stop();
  void cont();
  void kill();
  bool is_alive() const { return pid_ > 0; }

 private:
  int run(std::uint64_t seed);

  SharedLog& log_;
  LoadPlan plan_;
  int orders_[2]{};
  int answers_[2]{};
  pid_t pid_ = 0;
  Time stopped_at_ = 0;
};

}  // namespace holdfast::faults
