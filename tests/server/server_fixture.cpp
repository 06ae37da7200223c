// SPDX-License-Identifier: Apache-2.0
#include "server_fixture.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace holdfast::server {

namespace {

// One line per call into the file named by HOLDFAST_HTTP_RECORD, for tests/server/check_openapi.
void record(const HttpCall& call, const HttpAnswer& answer) {
  const char* const path = std::getenv("HOLDFAST_HTTP_RECORD");
  if (path == nullptr) return;
  const auto type = answer.headers.find("content-type");
  const boost::json::object line{{"method", call.method},
                                 {"path", call.path},
                                 {"status", answer.status},
                                 {"request", call.body},
                                 {"content_type", type == answer.headers.end() ? "" : type->second},
                                 {"body", answer.body}};
  const auto text = boost::json::serialize(line) + "\n";
  const int fd = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = write(fd, text.data(), text.size());
  close(fd);
}

}  // namespace

ServedProgram::ServedProgram(std::vector<std::string> words, std::vector<std::string> wrapper)
    : program_(
          [&] {
            auto all = std::move(wrapper);
            all.insert(all.end(), {HOLDFAST_BINARY, "serve", "--listen", "127.0.0.1:0"});
            all.insert(all.end(), words.begin(), words.end());
            return all;
          }(),
          {.environment = {"HOME=/nonexistent", "HOLDFAST_SYSTEM_CONFIG=/nonexistent"}}) {
  constexpr std::string_view said = "listening";
  constexpr std::string_view before = "127.0.0.1:";
  test::eventually([&] { return program_.err().contains(said) || program_.ended(); });
  const auto& log = program_.err();
  if (!log.contains(said)) return;
  const auto at = log.find(before, log.find(said));
  const auto end = log.find_first_not_of("0123456789", at + before.size());
  address_ = log.substr(at, end - at);
}

HttpAnswer ServerTest::call_at(const std::string& where, const HttpCall& what) {
  HttpConnection connection(where);
  const auto host = where.starts_with("unix:") ? "localhost" : where;
  connection.send(test::request_text(what, host));
  auto answer = connection.receive(std::chrono::seconds(30));
  record(what, answer);
  return answer;
}

std::size_t ServerTest::counted(const std::string& name, std::string_view field) {
  const auto lock = get("/v1/locks/" + name);
  return lock.status == 200 ? lock.json().at(field).as_array().size() : 0;
}

bool ServerTest::is_renewed(const std::string& name) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  return test::eventually([&] {
    const auto lock = get("/v1/locks/" + name);
    if (lock.status != 200) return false;
    const auto left = lock.json().at("holders").at(0).at("expires_in_ms").to_number<std::int64_t>();
    const bool has_grown = left > least;
    least = std::min(least, left);
    return has_grown;
  });
}

}  // namespace holdfast::server
