// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/program.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::faults {

// The real `holdfast serve`, on a port that it keeps when it is started again.
class Served {
 public:
  // Throws if it does not start.
  explicit Served(std::string store);

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  void stop() const;
  void go_on() const;
  void kill();
  void start();

 private:
  const std::string store_;
  std::uint16_t port_ = 0;
  std::unique_ptr<test::Program> program_;
};

}  // namespace holdfast::faults
