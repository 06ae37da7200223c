// SPDX-License-Identifier: Apache-2.0
//
// What a version keeps in a store and says over a wire, as lines of JSON; docs/testing.md says how
// a new recording is made. Bytes that are not printable stand as \xHH.
#pragma once

#include <holdfast/client.hpp>

#include "support/redis_server.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::upgrade {

using Line = boost::json::object;

// In the order of the file. Throws if it cannot be read.
std::vector<Line> read_recording(const std::filesystem::path& file);
// Those whose field `what` has this value.
std::vector<Line> lines_about(const std::vector<Line>& recording, std::string_view what);

std::string escaped(std::string_view bytes);
std::string unescaped(std::string_view text);
std::string bytes_in(const Line& line, std::string_view field);

// One lock of every shape, held for an hour by owner "ann", with others who hold and wait. They
// stay until this goes away.
class Shapes {
 public:
  explicit Shapes(const std::string& url);
  Shapes(const Shapes&) = delete;
  Shapes& operator=(const Shapes&) = delete;
  ~Shapes();

  // {"what": <what>, "name": "queue", "fences": [...], "waiters": 2} for each.
  std::vector<Line> describe(std::string_view what) const;

 private:
  template <typename Ask>
  void hold(Ask ask);
  // Returns when the store has one more waiter.
  template <typename Ask>
  void wait(const std::string& name, Ask ask);

  const Client client_;
  const Client other_;
  std::vector<Lease> leases_;
  std::stop_source stop_;
  std::vector<std::jthread> waiters_;
};

// Each of them appends to the recording.
void record_redis(std::vector<Line>& recording);
void record_file(std::vector<Line>& recording);
void record_http(std::vector<Line>& recording);

}  // namespace holdfast::upgrade
