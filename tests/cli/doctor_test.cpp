// SPDX-License-Identifier: Apache-2.0
#include "cli/holdfast_program.hpp"
#include "support/redis_server.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

class Doctor : public Cli {};

TEST_F(Doctor, finds_nothing_wrong_with_a_file_store) {
  Finished done;
  // On a busy machine the store may be slow for once, which is worth a warning.
  EXPECT_TRUE(eventually([&] {
    done = holdfast({"doctor", "--strict"});
    return done.code == 0;
  })) << done.out;
  EXPECT_EQ(done.err, "");
  for (const auto* check : {"reach", "speed", "clock", "set-up", "promise"}) {
    EXPECT_THAT(done.out, HasSubstr(std::string("ok    ") + check));
  }
  EXPECT_THAT(done.out, HasSubstr("docs/stores/file.md"));
}

TEST_F(Doctor, warns_of_a_server_that_forgets_and_fails_for_it_only_when_strict) {
  const RedisServer server;
  const auto done = holdfast({"doctor", "--store", server.url()});
  EXPECT_EQ(done.code, 0) << done.out;
  EXPECT_EQ(done.err, "");
  EXPECT_THAT(done.out, HasSubstr("warn  set-up"));
  EXPECT_THAT(done.out, HasSubstr("append-only"));
  EXPECT_THAT(done.out, HasSubstr("clock and ours agree"));
  EXPECT_EQ(holdfast({"doctor", "--strict", "--store", server.url()}).code, 88);
}

TEST_F(Doctor, as_json_has_a_state_for_each_check) {
  const auto seen = json::parse(holdfast({"doctor", "--json"}).out);
  EXPECT_EQ(seen.at("ok"), true);
  EXPECT_EQ(seen.at("checks").at(0).at("name"), "reach");
  EXPECT_EQ(seen.at("checks").at(0).at("state"), "ok");
}

TEST_F(Doctor, says_in_whole_sentences_that_a_server_is_full) {
  const RedisServer server({"--maxmemory", "1"});
  for (const auto& words : {Words{"acquire", "x"}, Words{"doctor"}}) {
    auto arguments = words;
    arguments.insert(arguments.end(), {"--store", server.url()});
    const auto done = holdfast(arguments);
    EXPECT_EQ(done.code, 69);
    EXPECT_THAT(done.out + done.err, HasSubstr("is out of memory (maxmemory)"));
  }
}

TEST_F(Doctor, says_which_store_cannot_be_reached) {
  const auto port = std::to_string(free_port());
  const auto url = "redis://:sesame@127.0.0.1:" + port;
  const auto done = holdfast({"doctor", "--store", url});
  EXPECT_EQ(done.code, 69);
  EXPECT_THAT(done.out, HasSubstr("fail  reach"));
  EXPECT_THAT(done.out, HasSubstr(port));
  EXPECT_THAT(done.out + done.err, Not(HasSubstr("sesame")));
  const auto seen = json::parse(holdfast({"doctor", "--json", "--store", url}).out);
  EXPECT_EQ(seen.at("ok"), false);
  EXPECT_EQ(holdfast({"doctor", "--store", "gopher://x"}).code, 64);
}

TEST_F(Doctor, other_commands_do_not_repeat_what_only_it_should_say) {
  const RedisServer server;
  EXPECT_EQ(holdfast({"status", "x", "--store", server.url()}).err, "");
  EXPECT_EQ(holdfast({"acquire", "x", "--store", server.url()}).err, "");
  EXPECT_THAT(holdfast({"status", "-v", "x", "--store", server.url()}).err,
              HasSubstr("append-only"));
}

}  // namespace
}  // namespace holdfast::test
