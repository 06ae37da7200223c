// SPDX-License-Identifier: Apache-2.0
//
// One request upstream, from the moment it may go until its answer has been read to the end.
#pragma once

#include "guard/answer_reader.hpp"
#include "guard/lanes.hpp"
#include "guard/pool.hpp"
#include "net/http/message.hpp"

namespace holdfast::guard {

// What is sent, and what has to be known of it to pass the answer on.
struct Errand {
  std::string bytes;
  bool is_head = false;    // there will be no body
  bool may_chunk = true;   // the client knows chunks
  bool is_fenced = false;  // others wait for its end: it has a time for all of it
  Duration timeout{};      // else for each step
  Lanes::Place place{};
};

// Answers 502 and 504 where the upstream does not. Nothing that may have been sent is sent again.
Task<net::http::Response> exchange(std::shared_ptr<Pool> pool, Errand errand);

}  // namespace holdfast::guard
