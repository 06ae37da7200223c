// SPDX-License-Identifier: Apache-2.0
#include "support/http_load.hpp"

#include "support/bars.hpp"
#include "support/http_client.hpp"
#include "support/processes.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

namespace holdfast::bench {

namespace {

constexpr std::string_view end_of_header = "\r\n\r\n";
constexpr std::string_view length_header = "\r\nContent-Length: ";
constexpr int most_silence_ms = 5000;
constexpr std::string_view good_status = "HTTP/1.1 200 ";

// The length of the answer that the buffer begins with, if it is there as a whole.
std::optional<std::size_t> whole_answer(std::string_view buffer) {
  const auto header = buffer.find(end_of_header);
  if (header == std::string_view::npos) return std::nullopt;
  if (!buffer.starts_with(good_status)) give_up(fmt::format("not 200: {}", buffer));
  const auto length = buffer.substr(0, header).find(length_header);
  if (length == std::string_view::npos) give_up(fmt::format("no Content-Length: {}", buffer));
  const auto* const digits = buffer.data() + length + length_header.size();
  const auto whole = header + end_of_header.size() + std::strtoull(digits, nullptr, 10);
  return buffer.size() >= whole ? std::optional(whole) : std::nullopt;
}

class LoadedConnection {
 public:
  LoadedConnection(const HttpLoad& load, std::size_t number)
      : must_contain_(load.must_contain), connection_(load.address), requests_(load.round(number)) {
    if (!connection_.is_connected()) give_up("nobody listens on " + load.address);
  }

  int fd() const { return connection_.fd(); }

  void begin_round() {
    began_ns_ = monotonic_ns();
    send();
  }
  // The time of a round that ended just now.
  std::optional<std::int64_t> receive() {
    std::array<char, 16384> piece{};
    const auto got = ::recv(fd(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got <= 0) give_up("the server closed a connection");
    buffer_.append(piece.data(), static_cast<std::size_t>(got));
    const auto whole = whole_answer(buffer_);
    if (!whole) return std::nullopt;
    if (is_first_round_) look_at(std::string_view(buffer_).substr(0, *whole));
    buffer_.erase(0, *whole);
    if (++step_ < requests_.size()) {
      send();
      return std::nullopt;
    }
    step_ = 0;
    is_first_round_ = false;
    return monotonic_ns() - began_ns_;
  }

 private:
  void send() {
    if (!connection_.send(requests_[step_])) give_up("the server takes no more requests");
  }
  void look_at(std::string_view answer) const {
    if (must_contain_.empty() || answer.contains(must_contain_[step_])) return;
    give_up(fmt::format("no {} in {}", must_contain_[step_], answer));
  }

  const std::vector<std::string>& must_contain_;
  test::HttpConnection connection_;
  const std::vector<std::string> requests_;
  std::string buffer_;
  std::size_t step_ = 0;
  std::int64_t began_ns_ = 0;
  bool is_first_round_ = true;
};

// The connections and the kernel's list of those that have something to say.
class Crowd {
 public:
  explicit Crowd(const HttpLoad& load) : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (std::size_t i = 0; i < load.connections; ++i) {
      all_.push_back(std::make_unique<LoadedConnection>(load, i));
      epoll_event event{.events = EPOLLIN, .data = {.ptr = all_.back().get()}};
      if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, all_.back()->fd(), &event) != 0) {
        give_up("epoll refuses a connection");
      }
    }
    for (const auto& each : all_) each->begin_round();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() { ::close(epoll_); }

  // The times of the rounds that end until then, in microseconds.
  std::vector<double> run_until(std::int64_t end_ns) {
    std::vector<double> times;
    while (monotonic_ns() < end_ns) {
      serve([&](LoadedConnection& each, std::int64_t took) {
        times.push_back(static_cast<double>(took) / 1e3);
        each.begin_round();
      });
    }
    return times;
  }
  // A round that has begun comes to its end: nothing is left behind for the next load.
  void finish() {
    std::size_t under_way = all_.size();
    while (under_way > 0) serve([&](LoadedConnection&, std::int64_t) { --under_way; });
  }

 private:
  template <typename Ended>
  void serve(Ended ended) {
    std::array<epoll_event, 64> events{};
    const int ready = ::epoll_wait(epoll_, events.data(), events.size(), most_silence_ms);
    if (ready == 0) give_up("the server has stopped answering");
    for (int i = 0; i < ready; ++i) {
      auto& each = *static_cast<LoadedConnection*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (const auto took = each.receive()) ended(each, *took);
    }
  }

  int epoll_;
  std::vector<std::unique_ptr<LoadedConnection>> all_;
};

}  // namespace

HttpLoaded run_http_load(const HttpLoad& load) {
  const auto in_ns = [](std::chrono::nanoseconds time) { return time.count(); };
  Crowd crowd(load);
  crowd.run_until(monotonic_ns() + in_ns(load.warm_up));
  const auto began = monotonic_ns();
  const auto times = crowd.run_until(began + in_ns(load.window));
  const auto seconds = static_cast<double>(monotonic_ns() - began) / 1e9;
  crowd.finish();
  if (times.empty()) give_up("no round came to its end");
  return {static_cast<double>(times.size()) / seconds, percentile(times, 0.99)};
}

}  // namespace holdfast::bench
