// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include "net/resp/reply.hpp"

#include <memory>
#include <string_view>

namespace holdfast::net::resp {

// Cuts what comes from a server into replies: hiredis' reader, with limits on what a broken or
// hostile peer can make it allocate. After an error it is of no more use.
class Parser {
 public:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of one reply
  static constexpr int most_elements = 1 << 20;                     // of one array

  Parser();

  void feed(std::string_view bytes);
  // The next whole reply, or none yet.
  Result<Reply> next();

 private:
  struct Free {
    void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
  };
  std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace holdfast::net::resp
