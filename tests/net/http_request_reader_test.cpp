// SPDX-License-Identifier: Apache-2.0
#include "net/http/request_reader.hpp"
#include "net/http_hostile_requests.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace holdfast::net::http {
namespace {

using Progress = RequestReader::Progress;
using test::chunked;
using test::hostile_requests;
using test::with_header;
using test::with_length;

// What came out of a stream of bytes: its requests, and how it ended.
struct Outcome {
  std::vector<std::string> requests;
  int status = 0;  // of the refusal, if there was one
  std::string code;
  bool wants_more = false;  // in the middle of a request
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << outcome.requests.size() << " requests, " << outcome.status << ' ' << outcome.code;
}

std::string text_of(const Request& request) {
  std::string text = fmt::format("{} {}?{} host={} keep={}\n", request.method_text, request.path,
                                 request.query, request.host, request.keep_alive);
  for (const auto& [name, value] : request.headers) text += fmt::format("{}={}\n", name, value);
  return text + std::string(request.body);
}

class Feeding {
 public:
  explicit Feeding(ReaderLimits limits) : reader_(limits) {}

  void feed(std::string_view bytes) {
    while (!bytes.empty() && outcome_.status == 0) {
      const auto space = reader_.space();
      const auto taken = std::min(space.size(), bytes.size());
      std::memcpy(space.data(), bytes.data(), taken);
      reader_.received(taken);
      bytes.remove_prefix(taken);
      look();
    }
  }
  Outcome outcome() {
    outcome_.wants_more = outcome_.status == 0 && !reader_.is_empty();
    return outcome_;
  }
  RequestReader& reader() { return reader_; }

 private:
  void look() {
    for (;;) {
      const auto progress = reader_.advance();
      if (progress == Progress::refused) {
        outcome_.status = reader_.refusal().status;
        outcome_.code = reader_.refusal().code;
      }
      if (progress != Progress::complete) return;
      outcome_.requests.push_back(text_of(reader_.request()));
      reader_.next();
    }
  }

  RequestReader reader_;
  Outcome outcome_;
};

Outcome read_in_pieces(std::string_view bytes, std::size_t piece, ReaderLimits limits = {}) {
  Feeding feeding(limits);
  for (std::size_t at = 0; at < bytes.size(); at += piece) feeding.feed(bytes.substr(at, piece));
  return feeding.outcome();
}

Outcome read_all(std::string_view bytes, ReaderLimits limits = {}) {
  return read_in_pieces(bytes, bytes.size(), limits);
}

Outcome refused(int status, std::string code) { return {{}, status, std::move(code), false}; }

const std::string several =
    "GET /a/b?x=1 HTTP/1.1\r\nHost: one:80\r\nAccept: */*\r\n\r\n"
    "\r\n"
    "POST /p HTTP/1.1\r\nHost: two\r\nContent-Length: 11\r\nX-Empty:\r\n\r\n{\"a\":\"\r\n\"}x"
    "POST /c HTTP/1.1\r\nHost: three\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;name=\"v;\\\"x\"\r\nhello\r\n1\r\n!\r\n0\r\nX-Trailer: t\r\nHost: evil\r\n\r\n"
    "DELETE http://four/d HTTP/1.1\r\nHost: other\r\nContent-Length: 0\r\n\r\n"
    "HEAD /h HTTP/1.0\r\n\r\n";

TEST(RequestReader, reads_everything_that_is_well_formed) {
  const auto outcome = read_all(several);
  ASSERT_EQ(outcome.requests.size(), 5U) << outcome.status << outcome.code;
  EXPECT_EQ(outcome.requests[0], "GET /a/b?x=1 host=one:80 keep=true\nHost=one:80\nAccept=*/*\n");
  EXPECT_TRUE(outcome.requests[1].ends_with("X-Empty=\n{\"a\":\"\r\n\"}x"));
  EXPECT_TRUE(outcome.requests[2].ends_with("chunked\nhello!"));
  EXPECT_TRUE(outcome.requests[3].starts_with("DELETE /d? host=four"));
  EXPECT_EQ(outcome.requests[4], "HEAD /h? host= keep=false\n");
  EXPECT_FALSE(outcome.wants_more);
}

TEST(RequestReader, a_trailing_field_of_a_chunked_body_is_no_header) {
  const auto outcome = read_all(chunked("0\r\nAuthorization: Bearer x\r\nHost: evil\r\n\r\n"));
  ASSERT_EQ(outcome.requests.size(), 1U);
  EXPECT_EQ(outcome.requests[0].find("Authorization"), std::string::npos);
  EXPECT_EQ(outcome.requests[0].find("evil"), std::string::npos);
}

TEST(RequestReader, pieces_of_every_size_give_the_same_requests) {
  const auto whole = read_all(several);
  for (std::size_t piece = 1; piece < several.size(); ++piece) {
    ASSERT_EQ(read_in_pieces(several, piece), whole) << piece;
  }
}

TEST(RequestReader, a_cut_at_every_place_gives_the_same_requests) {
  const auto whole = read_all(several);
  for (std::size_t cut = 1; cut < several.size(); ++cut) {
    Feeding feeding({});
    feeding.feed(std::string_view(several).substr(0, cut));
    feeding.feed(std::string_view(several).substr(cut));
    ASSERT_EQ(feeding.outcome(), whole) << cut;
  }
}

TEST(RequestReader, an_empty_chunked_body_that_comes_byte_by_byte_stops_nothing) {
  EXPECT_EQ(read_in_pieces(chunked("0\r\n\r\n"), 1).requests.size(), 1U);
  EXPECT_EQ(read_in_pieces(chunked("0\r\nX: y\r\n\r\n"), 1).requests.size(), 1U);
}

TEST(RequestReader, a_thousand_requests_in_one_piece_are_a_thousand_requests) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += fmt::format("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", i);
  const auto outcome = read_all(many);
  ASSERT_EQ(outcome.requests.size(), 1000U);
  EXPECT_TRUE(outcome.requests[999].starts_with("GET /999?"));
}

TEST(RequestReader, refuses_what_two_programs_could_read_differently) {
  for (const auto& [what, bytes, status, code] : hostile_requests()) {
    EXPECT_EQ(read_all(bytes), refused(status, code)) << what;
  }
}

TEST(RequestReader, refuses_in_pieces_what_it_refuses_whole) {
  for (const auto& [what, bytes, status, code] : hostile_requests()) {
    for (const std::size_t piece : {1, 2, 3, 7, 1000}) {
      EXPECT_EQ(read_in_pieces(bytes, piece), refused(status, code)) << what << ' ' << piece;
    }
  }
}

TEST(RequestReader, refuses_what_is_no_http_without_waiting_for_the_rest) {
  EXPECT_EQ(read_all("GET / HTTP/1.1\nHost"), refused(400, "malformed_request"));
  EXPECT_EQ(read_all("\x01"), refused(400, "malformed_request"));
}

TEST(RequestReader, requests_before_a_refused_one_are_still_requests) {
  const auto outcome = read_all(with_header("") + "GET / HTTP/9.9\r\nHost: a\r\n\r\n");
  EXPECT_EQ(outcome.requests.size(), 1U);
  EXPECT_EQ(outcome.status, 505);
}

TEST(RequestReader, methods_nobody_knows_are_for_the_service_to_refuse) {
  for (const auto& [line, text] :
       {std::pair<std::string, std::string>{"TRACE /x HTTP/1.1", "TRACE /x?"},
        {"CONNECT example.org:443 HTTP/1.1", "CONNECT example.org:443?"},
        {"OPTIONS * HTTP/1.1", "OPTIONS *?"},
        {std::string(10'000, 'M') + " / HTTP/1.1", std::string(10'000, 'M') + " /?"}}) {
    const auto outcome = read_all(line + "\r\nHost: a\r\n\r\n");
    ASSERT_EQ(outcome.requests.size(), 1U) << line;
    EXPECT_TRUE(outcome.requests[0].starts_with(text)) << outcome.requests[0];
  }
}

TEST(RequestReader, the_authority_of_an_absolute_target_counts_before_the_host) {
  const auto outcome = read_all("GET https://locks.example:8443?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_EQ(outcome.requests.size(), 1U);
  EXPECT_TRUE(outcome.requests[0].starts_with("GET /?x=1 host=locks.example:8443"))
      << outcome.requests[0];
}

TEST(RequestReader, bodies_at_the_limit_are_taken) {
  const std::string body(65'536, 'x');
  EXPECT_EQ(read_all(with_length(body.size(), body)).requests.size(), 1U);
  EXPECT_EQ(read_all(chunked("10000\r\n" + body + "\r\n0\r\n\r\n")).requests.size(), 1U);
  std::string tiny;
  for (std::size_t i = 0; i < body.size(); ++i) tiny += "1\r\nx\r\n";
  EXPECT_EQ(read_all(chunked(tiny + "0\r\n\r\n")).requests.size(), 1U);
}

TEST(RequestReader, long_extensions_of_many_small_chunks_do_not_fill_the_memory) {
  Feeding feeding({});
  feeding.feed(chunked(""));
  const auto chunk = "1;" + std::string(10'000, 'x') + "\r\nx\r\n";
  for (int i = 0; i < 100; ++i) feeding.feed(chunk);
  EXPECT_EQ(feeding.outcome(), refused(431, "headers_too_long"));
}

TEST(RequestReader, headers_at_the_limit_are_taken) {
  const auto shortest = with_header("X: \r\n").size();
  const auto at_limit = with_header(fmt::format("X: {}\r\n", std::string(16'384 - shortest, 'x')));
  ASSERT_EQ(at_limit.size(), 16'384U);
  EXPECT_EQ(read_all(at_limit).requests.size(), 1U);
  EXPECT_EQ(read_in_pieces(at_limit, 1).requests.size(), 1U);
  const auto over = with_header(fmt::format("X: {}\r\n", std::string(16'385 - shortest, 'x')));
  EXPECT_EQ(read_all(over), refused(431, "headers_too_long"));
}

TEST(RequestReader, asks_once_for_the_body_of_a_client_that_expects_to_be_asked) {
  Feeding feeding({});
  feeding.feed("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_TRUE(feeding.reader().wants_continue());
  EXPECT_FALSE(feeding.reader().wants_continue());
  feeding.feed("{}");
  EXPECT_EQ(feeding.outcome().requests.size(), 1U);
  EXPECT_FALSE(feeding.reader().wants_continue());
}

TEST(RequestReader, does_not_ask_a_client_of_http_1_0_to_go_on) {
  Feeding feeding({});
  feeding.feed("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_FALSE(feeding.reader().wants_continue());
}

TEST(RequestReader, a_refused_body_is_not_asked_for) {
  Feeding feeding({});
  feeding.feed(
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999\r\n\r\n");
  EXPECT_EQ(feeding.outcome(), refused(413, "body_too_long"));
}

TEST(RequestReader, what_came_behind_a_request_survives_giving_memory_back) {
  Feeding feeding({});
  const auto one = with_header("");
  feeding.feed(one + one.substr(0, 10));
  feeding.reader().shrink();
  feeding.feed(one.substr(10));
  EXPECT_EQ(feeding.outcome().requests.size(), 2U);
}

}  // namespace
}  // namespace holdfast::net::http
