// SPDX-License-Identifier: Apache-2.0
//
// What a store and the server that it is behind say to each other; docs/stores/remote.md has the
// whole of it. Both ends use these functions.
#pragma once

#include "store/store.hpp"

#include <boost/json/object.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::backends::remote {

inline constexpr std::string_view protocol_header = "Holdfast-Store-Protocol";
inline constexpr std::string_view protocol_version = "1";
// In every answer: another value tells that another server, or a restarted one, gave it.
inline constexpr std::string_view server_header = "Holdfast-Server";
// The code of a refusal: the stream named is not, or no longer, one of this server's.
inline constexpr std::string_view unknown_stream = "unknown_stream";

inline constexpr Micros heartbeat_interval = std::chrono::seconds(5);
// Two heartbeats were missed, and a bit.
inline constexpr Micros longest_silence = std::chrono::seconds(12);

// One command on its way.
struct Question {
  LockName name;
  model::Command command;
  std::string stream{};  // where a waiter wants to be told; empty: nowhere
  Micros timeout{};      // what is left until the caller's deadline
};
boost::json::object to_json(const Question& question);
Result<Question> parse_question(const boost::json::object& object);

boost::json::object to_json(const store::Reply& reply);
Result<store::Reply> parse_reply(const boost::json::object& object);

// One line of a stream for a waiter.
struct Line {
  LockName name;
  model::Message message;  // without its process
};
boost::json::object to_json(const Line& line);
Result<Line> parse_line(const boost::json::object& object);

// What a server says of itself and of its store.
struct Unsupported {
  Kind kind = Kind::mutex;
  Order order = Order::automatic;
  Error reason;
};
struct Info {
  std::string server;    // unlike that of any other, or of this one before it was started again
  std::string describe;  // its store
  bool queues = true;
  bool spends_requests = false;
  std::uint64_t wall_us = 0;  // its wall clock, since 1970
  std::vector<Unsupported> unsupported{};
};
boost::json::object to_json(const Info& info);
Result<Info> parse_info(const boost::json::object& object);

boost::json::object to_json(const LockPage& page);
Result<LockPage> parse_page(const boost::json::object& object);
boost::json::object to_json(const std::vector<LockEvent>& events);
Result<std::vector<LockEvent>> parse_events(const boost::json::object& object);

}  // namespace holdfast::backends::remote
