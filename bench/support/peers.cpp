// SPDX-License-Identifier: Apache-2.0
#include "support/peers.hpp"

#include "support/bars.hpp"
#include "support/http_client.hpp"

#include <fmt/format.h>

#include <fstream>
#include <thread>

namespace holdfast::bench {

using std::chrono::steady_clock;

std::string write_file(const TempFolder& folder, std::string_view name, std::string_view text) {
  auto path = fmt::format("{}/{}", folder.path(), name);
  std::ofstream(path) << text;
  return path;
}

std::chrono::milliseconds wait_for(const std::string& address) {
  const auto began = steady_clock::now();
  while (steady_clock::now() - began < std::chrono::seconds(10)) {
    if (test::HttpConnection(address).is_connected()) {
      return std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - began);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  give_up("nobody listens on " + address);
}

}  // namespace holdfast::bench
