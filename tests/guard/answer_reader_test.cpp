// SPDX-License-Identifier: Apache-2.0
#include "guard/answer_reader.hpp"

#include <gtest/gtest.h>

namespace holdfast::guard {
namespace {

using Framing = AnswerReader::Framing;
using Progress = AnswerReader::Progress;

struct Read {
  Progress progress = Progress::needs_more;
  std::string head;
  std::string body;
  std::string left;
  bool keeps_alive = false;
};

// Fed in pieces of this size, as a network may cut it.
Read read(std::string_view bytes, std::size_t piece = 1000, bool to_head = false) {
  AnswerReader reader(to_head, 1024);
  Read out;
  std::string unread;
  bool has_head = false;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    unread += bytes.substr(at, piece);
    std::string_view rest = unread;
    if (!has_head) out.progress = reader.take_head(rest);
    has_head = has_head || out.progress == Progress::complete;
    if (has_head) out.progress = reader.take_body(rest, out.body);
    unread = std::string(rest);
    if (out.progress == Progress::malformed) return out;
    if (out.progress == Progress::complete) {
      unread += bytes.substr(std::min(at + piece, bytes.size()));
      break;
    }
  }
  out.head = reader.head();
  out.left = unread;
  out.keeps_alive = reader.keeps_alive();
  return out;
}

TEST(AnswerReader, reads_a_body_with_a_length_however_it_is_cut) {
  const std::string_view bytes =
      "HTTP/1.1 201 Created\r\nX-A: b\r\nContent-Length: 5\r\nX-C:d\r\n\r\nhelloNEXT";
  for (std::size_t piece = 1; piece < bytes.size(); ++piece) {
    const auto got = read(bytes, piece);
    EXPECT_EQ(got.progress, Progress::complete) << piece;
    EXPECT_EQ(got.head, "HTTP/1.1 201 Created\r\nX-A: b\r\nX-C:d\r\n");
    EXPECT_EQ(got.body, "hello");
    EXPECT_EQ(got.left, "NEXT");
    EXPECT_TRUE(got.keeps_alive);
  }
}

TEST(AnswerReader, reads_chunks_however_they_are_cut_and_drops_trailers) {
  const std::string_view bytes =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nT: "
      "x\r\n\r\n";
  for (std::size_t piece = 1; piece < bytes.size(); ++piece) {
    const auto got = read(bytes, piece);
    EXPECT_EQ(got.progress, Progress::complete) << piece;
    EXPECT_EQ(got.head, "HTTP/1.1 200 OK\r\n");
    EXPECT_EQ(got.body, "hello");
    EXPECT_EQ(got.left, "");
  }
}

TEST(AnswerReader, a_long_stream_of_small_chunks_has_no_limit) {
  std::string bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 100'000; ++i) bytes += "1\r\nx\r\n";
  bytes += "0\r\n\r\n";
  const auto got = read(bytes, 4096);
  EXPECT_EQ(got.progress, Progress::complete);
  EXPECT_EQ(got.body.size(), 100'000U);
}

TEST(AnswerReader, answers_before_the_last_one_are_dropped) {
  const auto got = read(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      7);
  EXPECT_EQ(got.progress, Progress::complete);
  EXPECT_EQ(got.head, "HTTP/1.1 200 OK\r\n");
}

TEST(AnswerReader, fields_of_one_hop_are_not_passed_on) {
  const auto got = read(
      "HTTP/1.1 200 OK\r\nConnection: X-Mine, close\r\nKeep-Alive: timeout=5\r\nX-Mine: 1\r\n"
      "Upgrade: h2\r\nX-Yours: 2\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(got.head, "HTTP/1.1 200 OK\r\nX-Yours: 2\r\n");
  EXPECT_FALSE(got.keeps_alive);
}

TEST(AnswerReader, an_old_upstream_keeps_a_connection_only_if_it_says_so) {
  EXPECT_FALSE(read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").keeps_alive);
  const auto kept = read("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(kept.keeps_alive);
  EXPECT_EQ(kept.head, "HTTP/1.1 200 OK\r\n");
}

TEST(AnswerReader, some_answers_have_no_body_whatever_they_say_of_it) {
  for (const auto* status : {"204 No Content", "304 Not Modified"}) {
    const auto got =
        read(std::string("HTTP/1.1 ") + status + "\r\nContent-Length: 7\r\n\r\nHTTP/1.1 200 OK");
    EXPECT_EQ(got.progress, Progress::complete) << status;
    EXPECT_EQ(got.body, "") << status;
    EXPECT_EQ(got.left, "HTTP/1.1 200 OK") << status;
  }
  const auto to_head = read("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", 1000, true);
  EXPECT_EQ(to_head.progress, Progress::complete);
  EXPECT_EQ(to_head.body, "");
}

TEST(AnswerReader, a_body_without_a_length_ends_with_the_connection) {
  AnswerReader reader(false, 1024);
  std::string_view bytes = "HTTP/1.1 200 OK\r\n\r\nhello";
  ASSERT_EQ(reader.take_head(bytes), Progress::complete);
  EXPECT_EQ(reader.framing(), Framing::until_close);
  std::string body;
  EXPECT_EQ(reader.take_body(bytes, body), Progress::needs_more);
  EXPECT_EQ(body, "hello");
  EXPECT_TRUE(reader.end());
  EXPECT_FALSE(reader.keeps_alive());
}

TEST(AnswerReader, what_two_programs_could_read_differently_is_refused) {
  const std::string bad[] = {
      "HTTP/2 200 OK\r\n\r\n",
      "HTTP/1.2 200 OK\r\n\r\n",
      "http/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 2000 OK\r\n\r\n",
      "HTTP/1.1 -20 OK\r\n\r\n",
      "HTTP/1.1 20x OK\r\n\r\n",
      "HTTP/1.1 099 OK\r\n\r\n",
      "HTTP/1.1  200 OK\r\n\r\n",
      "200 OK\r\n\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\na",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
      "HTTP/1.1 200 OK\r\nX : y\r\n\r\n",
      "HTTP/1.1 200 OK\r\n folded: y\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: a\nY: b\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: a\rY: b\r\n\r\n",
      std::string("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", 28),
      "HTTP/1.1 200 OK\r\n: y\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: " + std::string(2000, 'x'),
      "HTTP/1.1 200 OK\r\nX: " + std::string(2000, 'x') + "\r\n\r\n",
  };
  for (const auto& bytes : bad) {
    EXPECT_EQ(read(bytes).progress, Progress::malformed) << bytes.substr(0, 200);
    EXPECT_EQ(read(bytes, 1).progress, Progress::malformed) << bytes.substr(0, 200);
  }
}

}  // namespace
}  // namespace holdfast::guard
