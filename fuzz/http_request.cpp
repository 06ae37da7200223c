// SPDX-License-Identifier: Apache-2.0
//
// However the network cuts a stream of requests into pieces, the same requests come out of it, and
// the same refusal. The first four bytes choose the pieces, the others are the stream.
#include "net/http/request_reader.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using holdfast::net::http::ReaderLimits;
using holdfast::net::http::Request;
using holdfast::net::http::RequestReader;
using Progress = RequestReader::Progress;

// Small enough for a short input to reach them.
constexpr ReaderLimits limits{.max_header_bytes = 512, .max_headers = 8, .max_body_bytes = 128};

struct Outcome {
  std::vector<std::string> requests;
  int status = 0;
  std::string code;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Every view is read, so that one into memory that is gone is noticed.
std::string text_of(const Request& request) {
  std::string text;
  for (const auto part :
       {request.method_text, request.path, request.query, request.host, request.body}) {
    text.append(part).push_back('\n');
  }
  for (const auto& [name, value] : request.headers) text.append(name).append(value);
  return text + (request.keep_alive ? "keep" : "close");
}

void look(RequestReader& reader, Outcome& outcome) {
  for (;;) {
    const auto progress = reader.advance();
    if (progress == Progress::needs_body) reader.wants_continue();
    if (progress == Progress::refused) {
      outcome.status = reader.refusal().status;
      outcome.code = reader.refusal().code;
    }
    if (progress != Progress::complete) return;
    if (reader.request().body.size() > limits.max_body_bytes) std::abort();
    if (reader.request().headers.size() > limits.max_headers) std::abort();
    outcome.requests.push_back(text_of(reader.request()));
    reader.next();
    reader.shrink();
  }
}

template <typename NextSize>
Outcome read(std::string_view bytes, NextSize next_size) {
  RequestReader reader(limits);
  Outcome outcome;
  while (!bytes.empty() && outcome.status == 0) {
    const auto space = reader.space();
    const auto taken = std::min({space.size(), bytes.size(), next_size()});
    std::memcpy(space.data(), bytes.data(), taken);
    reader.received(taken);
    bytes.remove_prefix(taken);
    look(reader, outcome);
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint32_t seed = 0;
  if (size < sizeof(seed)) return 0;
  std::memcpy(&seed, data, sizeof(seed));
  const std::string_view bytes(reinterpret_cast<const char*>(data) + sizeof(seed),
                               size - sizeof(seed));
  const auto whole = read(bytes, [&] { return bytes.size(); });
  std::minstd_rand random(seed);
  const std::uint32_t longest = 1 + seed % 64;
  const auto pieces = read(bytes, [&] { return std::size_t{1 + random() % longest}; });
  if (whole != pieces) std::abort();
  return 0;
}
