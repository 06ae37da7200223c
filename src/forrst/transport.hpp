// SPDX-License-Identifier: Apache-2.0
//
// How a client's requests get to a server and answers come back: over HTTP, or as frames on a Unix
// socket.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/forrst/client.hpp>
#include <holdfast/forrst/service.hpp>

#include "runtime/clock.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace holdfast::forrst {

inline constexpr std::size_t max_answer_bytes = max_result_bytes;

struct Answer {
  int status = 0;  // of HTTP; zero: there is none
  std::string body;
};

// From any thread.
class Transport {
 public:
  virtual ~Transport() = default;

  // Blocks. Errors:
  //   unavailable      surely the server has not got it
  //   cancelled        `stop` fired, and surely the server has not got it
  //   outcome_unknown  it went out, and no answer came, or none of a length that we accept
  //   unsupported      on a thread that the answer would need
  virtual Result<Answer> send(std::string_view request, runtime::LocalTime deadline,
                              std::stop_token stop) = 0;
  virtual std::string describe() const = 0;  // "http://host:3009", "unix:/run/x": no secrets
};

// Both connect when there is something to say. Errors: bad_input.
Result<std::shared_ptr<Transport>> open_http(std::string_view url, const ClientOptions& options);
Result<std::shared_ptr<Transport>> open_socket(std::string_view path);

}  // namespace holdfast::forrst
