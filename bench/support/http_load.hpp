// SPDX-License-Identifier: Apache-2.0
//
// Load from kept connections where a unit of work is several requests, one after the other, and its
// time is wanted: wrk knows the times of requests only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::bench {

struct HttpLoad {
  std::string address;  // "127.0.0.1:3009"
  std::size_t connections = 50;
  std::chrono::milliseconds warm_up{300};
  std::chrono::milliseconds window{3000};
  // The requests of one round of a connection, as bytes. Each is sent once the one before has been
  // answered, and the round begins again after the last. Every answer must have the status 200.
  std::function<std::vector<std::string>(std::size_t connection)> round;
  // What every answer of the first round must contain: a proof that the work is done.
  std::vector<std::string> must_contain;  // one for each request; empty: anything
};

struct HttpLoaded {
  double rounds_per_s = 0;
  double p99_us = 0;  // of a round
};

// On this thread. Gives up on what is not as it should be.
HttpLoaded run_http_load(const HttpLoad& load);

}  // namespace holdfast::bench
