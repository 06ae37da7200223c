// SPDX-License-Identifier: Apache-2.0
//
// The program as a server, on a folder: killed and started again it knows what it knew.
#include "chaos/place.hpp"
#include "faults_redis/faults_fixture.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <stdexcept>

namespace holdfast::faults {

namespace {

// Until every client has a connection and a stream again: the pause between two attempts is a
// second at most.
constexpr Time connected_within = 2000 * millisecond;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = loopback(0);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  const bool is_good = bind(fd, raw, size) == 0 && getsockname(fd, raw, &size) == 0;
  close(fd);
  if (!is_good) throw std::runtime_error("there is no free port");
  return ntohs(address.sin_port);
}

bool accepts(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = loopback(port);
  const bool is_good =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return is_good;
}

class HttpPlace final : public Place {
 public:
  void start(SharedLog&, Dice&) override {
    port_ = free_port();
    serve();
    proxy_.emplace(port_);
  }
  std::string url(bool by_the_bad_line) override {
    return "http://127.0.0.1:" + std::to_string(by_the_bad_line ? proxy_->port() : port_);
  }
  test::FaultProxy* line() override { return &*proxy_; }
  LoadPlan plan() const override {
    return {.locks = mixed_locks(), .least_ttl = 600ms, .most_ttl = 3s};
  }

  std::string_view trouble(SharedLog& log, Dice& dice) override {
    const Time begin = log.now();
    if (!dice.one_in(3)) {
      program_->signal(SIGSTOP);
      dice.rest(20ms, 1500ms);
      program_->signal(SIGCONT);
      log.fault(What::stopped, 0, begin, log.now());
      return "server stopped";
    }
    program_.reset();  // SIGKILL
    dice.rest(0us, 300ms);
    serve();
    log.fault(What::unreachable, 0, begin, log.now() + connected_within);
    return "server killed";
  }

 private:
  void serve() {
    program_.emplace(std::vector<std::string>{HOLDFAST_BINARY, "serve", "--listen",
                                              "127.0.0.1:" + std::to_string(port_), "--store",
                                              "file:" + folder_.path().string()},
                     test::ProgramOptions{.environment = {"HOME=/nonexistent",
                                                          "HOLDFAST_SYSTEM_CONFIG=/nonexistent"},
                                          .stdout_to = "/dev/null",
                                          .stderr_to = "/dev/null"});
    if (!eventually([this] { return accepts(port_); })) {
      throw std::runtime_error("the server does not come up");
    }
  }

  test::TemporaryFolder folder_;
  std::uint16_t port_ = 0;
  std::optional<test::Program> program_;
  std::optional<test::FaultProxy> proxy_;
};

}  // namespace

std::unique_ptr<Place> make_http_place() { return std::make_unique<HttpPlace>(); }

}  // namespace holdfast::faults
