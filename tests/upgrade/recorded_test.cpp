// SPDX-License-Identifier: Apache-2.0
//
// What earlier versions wrote is read by this one: tests/upgrade/recorded has a file for each
// version whose stores may still be in use.
#include "backends/file/record.hpp"
#include "backends/redis/wire.hpp"
#include "backends/remote/protocol.hpp"
#include "faults_redis/wall_clock.hpp"
#include "model/codec.hpp"
#include "support/temporary_folder.hpp"
#include "upgrade/recording.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace holdfast::upgrade {

namespace {

using namespace std::chrono_literals;

std::vector<Fence> fences_in(const Line& line) {
  std::vector<Fence> fences;
  for (const auto& each : line.at("fences").as_array()) fences.push_back(each.to_number<Fence>());
  std::ranges::sort(fences);
  return fences;
}

// The server's clock stands where it stood when the keys were written: a queue ends soon after
// that.
void turn_back(const test::RedisServer& server, faults::WallClock& clock,
               const std::vector<Line>& recording) {
  const Micros then(lines_about(recording, "redis_time").at(0).at("us").to_number<std::int64_t>());
  clock.step(then - faults::wall_time(server));
}

void put_back(const test::RedisServer& server, const std::vector<Line>& recording) {
  test::RawRedis raw(server);
  for (const Line& line : lines_about(recording, "redis")) {
    std::vector<std::string> command;
    for (const auto& word : line.at("command").as_array()) {
      command.push_back(unescaped(word.as_string()));
    }
    const auto reply = raw.call(command);
    ASSERT_NE(reply->type, REDIS_REPLY_ERROR) << command[0] << " " << command[1];
  }
}

void read_redis(const std::vector<Line>& recording) {
  faults::WallClock clock;
  test::RedisServer server({}, clock.environment());
  turn_back(server, clock, recording);
  put_back(server, recording);
  auto client = open(server.url());
  ASSERT_TRUE(client) << client.error().message;
  Fence newest = 0;
  for (const Line& line : lines_about(recording, "redis_lock")) {
    const std::string name(line.at("name").as_string());
    SCOPED_TRACE(name);
    turn_back(server, clock, recording);
    const auto view = client->inspect(name);
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_EQ(static_cast<int>(view->kind), line.at("kind").to_number<int>());
    EXPECT_EQ(view->waiters.size(), line.at("waiters").to_number<std::size_t>());
    std::vector<Fence> fences;
    for (const auto& holder : view->holders) fences.push_back(holder.fence);
    std::ranges::sort(fences);
    EXPECT_EQ(fences, fences_in(line));
    newest = std::max(newest, fences.back());
    // It excludes us, its owner can give it back, and those who waited are gone.
    if (view->kind == Kind::mutex) {
      const auto busy = client->mutex(name).acquire();
      EXPECT_TRUE(!busy && busy.error().code == Errc::busy);
    }
    auto anns = client->adopt(name, "ann");
    ASSERT_TRUE(anns) << anns.error().message;
    EXPECT_EQ(anns->release(), Released::released);
    if (view->holders.size() > 1 && view->kind == Kind::read_write) {
      EXPECT_EQ(client->force_release(name, "the other reader"), 1U);
    }
    EXPECT_EQ(test::RawRedis(server).integer({"EXISTS", "hf:{" + name + "}"}), 0);
  }
  auto next = client->mutex("queue").acquire();
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_GT(next->fence(), newest);
}

void read_messages(const std::vector<Line>& recording) {
  const auto messages = lines_about(recording, "message");
  ASSERT_EQ(messages.size(), 2U);
  for (const Line& line : messages) {
    const std::string payload = bytes_in(line, "payload");
    const auto delivery = backends::redis::decode_message(payload);
    ASSERT_TRUE(delivery) << payload;
    EXPECT_EQ(delivery->name.str(), "told");
    const bool has_fence = delivery->message.grant && delivery->message.grant->fence > 0;
    EXPECT_EQ(has_fence, payload.front() == 'g');
  }
}

void read_file(const std::vector<Line>& recording) {
  std::size_t locks = 0;
  const auto expected = lines_about(recording, "file_lock");
  for (const Line& line : lines_about(recording, "file")) {
    const std::string key = bytes_in(line, "key");
    const std::string value = bytes_in(line, "value");
    if (key.front() == '\0') continue;
    const auto record = backends::file::parse_record(key, value);
    ASSERT_TRUE(record) << line.at("key");
    const auto found = std::ranges::find_if(
        expected, [&](const Line& each) { return each.at("name").as_string() == record->name; });
    if (found == expected.end()) continue;
    SCOPED_TRACE(std::string(record->name));
    ++locks;
    const auto state = model::decode(record->state);
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_EQ(static_cast<int>(state->spec.kind), found->at("kind").to_number<int>());
    EXPECT_EQ(state->queue.size(), found->at("waiters").to_number<std::size_t>());
    std::vector<Fence> fences;
    for (const auto& hold : state->holds) fences.push_back(hold.fence);
    std::ranges::sort(fences);
    EXPECT_EQ(fences, fences_in(*found));
    // The same bytes again, unless this version has another format.
    std::string again;
    model::encode(*state, again);
    const bool is_same_format = again.front() == record->state.front();
    EXPECT_TRUE(!is_same_format || again == record->state);
  }
  EXPECT_EQ(locks, expected.size());
}

// Everything that was said is understood as it was meant: what this version makes of it says the
// same, and may say more.
template <typename Parse>
void read_said(const std::vector<Line>& recording, std::string_view what, Parse parse) {
  const auto lines = lines_about(recording, what);
  EXPECT_FALSE(lines.empty()) << what;
  for (const Line& line : lines) {
    const Line& said = line.at("json").as_object();
    const auto parsed = parse(said);
    ASSERT_TRUE(parsed) << boost::json::serialize(said) << ": " << parsed.error().message;
    const Line again = backends::remote::to_json(*parsed);
    for (const auto& field : said) {
      const auto* const same = again.if_contains(field.key());
      ASSERT_NE(same, nullptr) << boost::json::serialize(said) << " without " << field.key();
      EXPECT_EQ(boost::json::serialize(*same), boost::json::serialize(field.value()));
    }
  }
}

void read_http(const std::vector<Line>& recording) {
  using namespace backends::remote;
  read_said(recording, "http_question", [](const Line& said) { return parse_question(said); });
  read_said(recording, "http_reply", [](const Line& said) { return parse_reply(said); });
  read_said(recording, "http_line", [](const Line& said) { return parse_line(said); });
  read_said(recording, "http_info", [](const Line& said) { return parse_info(said); });
}

std::vector<std::string> recordings() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(HOLDFAST_RECORDED)) {
    found.push_back(entry.path().stem().string());
  }
  std::ranges::sort(found);
  return found;
}

class Recorded : public testing::TestWithParam<std::string> {
 protected:
  const std::vector<Line> recording =
      read_recording(std::filesystem::path(HOLDFAST_RECORDED) / (GetParam() + ".jsonl"));
};

TEST_P(Recorded, locks_in_redis_are_read_released_and_followed_by_larger_fences) {
  read_redis(recording);
}
TEST_P(Recorded, messages_of_a_hand_over_are_read) { read_messages(recording); }
TEST_P(Recorded, locks_in_a_folder_are_read) { read_file(recording); }
TEST_P(Recorded, questions_and_answers_of_a_server_are_read) { read_http(recording); }

INSTANTIATE_TEST_SUITE_P(By, Recorded, testing::ValuesIn(recordings()),
                         [](const auto& version) { return version.param; });

// HOLDFAST_RECORD=FILE keeps the recording.
TEST(Recording, of_this_version_is_read_by_it) {
  std::vector<Line> recording;
  record_redis(recording);
  record_file(recording);
  record_http(recording);
  const test::TemporaryFolder folder;
  const char* const wanted = std::getenv("HOLDFAST_RECORD");
  const std::filesystem::path file = wanted != nullptr ? wanted : folder.path() / "new.jsonl";
  std::ofstream out(file);
  for (const Line& line : recording) out << boost::json::serialize(line) << '\n';
  out.close();
  const auto written = read_recording(file);
  read_redis(written);
  read_messages(written);
  read_file(written);
  read_http(written);
}

}  // namespace

}  // namespace holdfast::upgrade
