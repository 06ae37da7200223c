// SPDX-License-Identifier: Apache-2.0
#include "served.hpp"

#include <fmt/format.h>

#include <csignal>
#include <stdexcept>
#include <vector>

namespace holdfast::faults {

Served::Served(std::string store) : store_(std::move(store)) { start(); }

void Served::start() {
  constexpr std::string_view said = "listening";
  constexpr std::string_view before = "127.0.0.1:";
  const auto begin = [&] {
    const std::vector<std::string> words{
        HOLDFAST_BINARY, "serve", "--listen", fmt::format("127.0.0.1:{}", port_),
        "--store",       store_,  "--drain",  "100ms"};
    program_ = std::make_unique<test::Program>(
        words, test::ProgramOptions{
                   .environment = {"HOME=/nonexistent", "HOLDFAST_SYSTEM_CONFIG=/nonexistent"}});
    test::eventually([&] { return program_->err().contains(said) || program_->ended(); });
    return program_->err().contains(said);
  };
  // A port that was just given up may not be free at once.
  if (!test::eventually(begin)) throw std::runtime_error(program_->err());
  const auto& log = program_->err();
  const auto at = log.find(before, log.find(said)) + before.size();
  port_ = static_cast<std::uint16_t>(std::stoul(log.substr(at)));
}

void Served::stop() const { program_->signal(SIGSTOP); }
void Served::go_on() const { program_->signal(SIGCONT); }

void Served::kill() {
  program_->signal(SIGKILL);
  program_->wait();
}

}  // namespace holdfast::faults
