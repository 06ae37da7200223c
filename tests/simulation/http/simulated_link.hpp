// SPDX-License-Identifier: Apache-2.0
//
// What a connection of the HTTP client has below it in the simulator, where the production build
// has a socket (net/resp/link.hpp). Everything above is production code.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/task.hpp>

#include "runtime/runtime.hpp"
#include "runtime/spawn.hpp"

#include <boost/system/error_code.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace holdfast::simulated {

class Link {
 public:
  using Opened = std::move_only_function<void(Result<void>)>;
  using Moved = std::move_only_function<void(boost::system::error_code, std::size_t bytes)>;

  virtual ~Link() = default;
  // All as in net::resp::Link.
  virtual void open(Opened opened) = 0;
  virtual void read(std::span<char> into, Moved moved) = 0;
  virtual void write(std::string_view from, Moved moved) = 0;
  virtual bool is_closed() const = 0;
  virtual void close() = 0;
  void abandon() { close(); }
};

// Whoever simulates the network of this thread.
class Network {
 public:
  virtual ~Network() = default;
  virtual std::shared_ptr<Link> make_link(runtime::Runtime& runtime) = 0;
};
void use(Network* network);
std::shared_ptr<Link> make_link(runtime::Runtime& runtime);

// A store is not waited for until it is ready: nobody would move the world meanwhile.
inline Result<void> open_meanwhile(Task<Result<void>> ready) {
  runtime::spawn(std::move(ready));
  return {};
}

}  // namespace holdfast::simulated
