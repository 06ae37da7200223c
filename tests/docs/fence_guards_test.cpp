// SPDX-License-Identifier: Apache-2.0
//
// Every curl of docs/fence-guards.md is run, in order, against a guard before a small service, and
// must answer the status that stands behind it.
#include "docs/repository.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>

namespace holdfast::test {
namespace {

// Says yes to everything.
constexpr auto service = R"(
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_PUT = do_GET
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port=%d;" % server.server_address[1], file=sys.stderr, flush=True)
server.serve_forever()
)";

std::string found_in(const std::string& text, const std::string& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : std::string();
}

TEST(FenceGuards, every_curl_of_the_page_answers_what_the_page_says) {
  const TemporaryFolder folder;
  Program behind({"python3", "-c", service});
  ASSERT_TRUE(behind.complains(";")) << behind.err();
  Program guard({HOLDFAST_BINARY, "guard", "--upstream",
                 "http://127.0.0.1:" + found_in(behind.err(), "port=(\\d+);"), "--listen",
                 "127.0.0.1:0", "--store", "memory:"},
                {.environment = {"HOME=" + folder.path().string()}});
  ASSERT_TRUE(guard.complains("listening")) << guard.err();
  const auto address = found_in(guard.err(), R"(address=(127\.0\.0\.1:\d+))");
  std::istringstream page(read_text(repository() / "docs/fence-guards.md"));
  const std::regex line(R"((curl .*localhost:3010.*)# (\d{3})$)");
  int lines = 0;
  for (std::string each; std::getline(page, each);) {
    std::smatch match;
    if (!std::regex_search(each, match, line)) continue;
    ++lines;
    const auto command = std::regex_replace(match[1].str(), std::regex("localhost:3010"), address);
    const auto done = run({"bash", "-c", command + " -s -o /dev/null -w '%{http_code}'"});
    EXPECT_EQ(done.out, match[2].str()) << each;
  }
  EXPECT_GE(lines, 7);
}

}  // namespace
}  // namespace holdfast::test
