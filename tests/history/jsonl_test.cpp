// SPDX-License-Identifier: Apache-2.0
#include "history/stories.hpp"
#include "history/story.hpp"

#include <gmock/gmock.h>

namespace holdfast::history::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

bool same(const Event& a, const Event& b) {
  return a.at == b.at && a.until == b.until && a.since == b.since && a.fence == b.fence &&
         a.number == b.number && a.op == b.op && a.by == b.by && a.name == b.name &&
         a.process == b.process && a.what == b.what && a.detail == b.detail &&
         a.accepted == b.accepted && a.claim == b.claim && a.delays == b.delays;
}

bool same(const Attempt& a, const Attempt& b) {
  return a.name == b.name && a.process == b.process && a.owner == b.owner &&
         a.permits == b.permits && a.capacity == b.capacity && a.reentrant == b.reentrant &&
         a.fifo == b.fifo && a.waits == b.waits && a.converts == b.converts && a.ttl == b.ttl &&
         a.give_up == b.give_up && a.renews == b.renews && a.max_hold == b.max_hold &&
         a.least_ttl == b.least_ttl;
}

void expect_same(const History& a, const History& b) {
  EXPECT_EQ(a.names, b.names);
  ASSERT_EQ(a.attempts.size(), b.attempts.size());
  ASSERT_EQ(a.events.size(), b.events.size());
  for (std::size_t i = 0; i < a.attempts.size(); ++i) {
    EXPECT_TRUE(same(a.attempts[i], b.attempts[i])) << i;
  }
  for (std::size_t i = 0; i < a.events.size(); ++i)
    EXPECT_TRUE(same(a.events[i], b.events[i])) << i;
}

TEST(Jsonl, comes_back_as_it_was_written) {
  for (const char* text : {hand_over, told_only, readers, semaphore, reentrant, upgrade, downgrade,
                           line, stopped, kept, handed, refused, calm}) {
    const History history = story(text);
    const Parsed again = read_jsonl(to_jsonl(history));
    ASSERT_TRUE(again) << again.error();
    expect_same(history, *again);
  }
}

TEST(Jsonl, has_every_event_and_every_optional_field) {
  const History history = story(R"(
    0 asked a fifo waits reentrant permits=2 capacity=3 give_up=9 owner=o process=p
    1 asked b converts=a renews max_hold=50 least_ttl=7
    1 forced name=other fence=3
    2 freed a by=b left=2
    2 renewed a since=1 until=3 fence=4
    2 self_blocked a
    3 wrote a fence=4 value=-5 since=2 refused
    3 clock_stepped step=-20
    3 unreachable until=4
    3 stopped process=p until=never
    3 data_lost
    4 calm patience=7
    4 ended
  )");
  const Parsed again = read_jsonl(to_jsonl(history));
  ASSERT_TRUE(again) << again.error();
  expect_same(history, *again);
}

TEST(Jsonl, takes_any_name_and_writes_it_safely) {
  const std::string text =
      R"({"at_ns":0,"event":"asked","op":"x","name":"a\"\\\/\b\f\n\r\té\u00e9\ud83d\ude00\u0001","process":-7,"ttl_ns":1})";
  const Parsed history = read_jsonl(text);
  ASSERT_TRUE(history) << history.error();
  EXPECT_EQ(history->names[0], "a\"\\/\b\f\n\r\té\u00e9\U0001F600\x01");
  const Parsed again = read_jsonl(to_jsonl(*history));
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(again->names, history->names);
}

TEST(Jsonl, numbers_whatever_a_file_calls_its_things) {
  const Parsed history = read_jsonl(
      "{\"at_ns\":0,\"event\":\"asked\",\"op\":900000000000,\"name\":7,\"process\":\"p\",\"ttl_"
      "ns\":1}\n"
      "\n"
      "  { \"at_ns\" : 1, "
      "\"event\":\"asked\",\"op\":\"7\",\"name\":\"7\",\"process\":3,\"ttl_ns\":1}\r\n"
      "{\"at_ns\":2,\"event\":\"asked\",\"op\":7,\"name\":7,\"process\":\"p\",\"ttl_ns\":1}\n"
      "{\"at_ns\":3,\"event\":\"lost\",\"op\":\"7\"}");
  ASSERT_TRUE(history) << history.error();
  ASSERT_EQ(history->attempts.size(), 3U);
  EXPECT_EQ(history->names, (std::vector<std::string>{"7", "7"}));
  EXPECT_EQ(history->attempts[2].name, 1U);
  EXPECT_EQ(history->attempts[0].process, history->attempts[2].process);
  EXPECT_NE(history->attempts[0].owner, history->attempts[2].owner);
  EXPECT_EQ(history->events[3].op, 2U);
}

TEST(Jsonl, an_unknown_detail_is_other) {
  const Parsed history = read_jsonl(
      R"({"at_ns":0,"event":"asked","op":1,"name":"x","process":1,"ttl_ns":1}
         {"at_ns":0,"event":"failed","op":1,"detail":"spec_mismatch"})");
  ASSERT_TRUE(history) << history.error();
  EXPECT_EQ(history->events[1].detail, Detail::other);
}

struct BadInput {
  std::string text;  // the second line, after an `asked` of attempt 1
  std::string why;
};

const std::vector<BadInput> bad_inputs{
    {"nonsense", "every line must be one JSON object"},
    {"[]", "every line must be one JSON object"},
    {"\xEF\xBB\xBF{}", "every line must be one JSON object"},
    {"{", "the name of a field must be a string"},
    {"{}", "at_ns: is missing"},
    {R"({"at_ns":1})", "event: is missing"},
    {R"({"event":"lost","op":1})", "at_ns: is missing"},
    {R"({"at_ns":1,"event":"lost"})", "op: is missing; lost needs it"},
    {R"({"at_ns":1,"event":"lost","op":1)", "followed by a comma"},
    {R"({"at_ns":1,"event":"lost","op":1} x)", "nothing may follow"},
    {R"({"at_ns":1,"event":"lost","op":1,})", "the name of a field must be a string"},
    {R"({"at_ns":1,"event":"lost","op":1,"op":1})", "op: stands there twice"},
    {R"({"at_ns":1,"event":"lost","op" 1})", "followed by a colon"},
    {R"({"at_ns":1,"event":"lost","op":1,"colour":"red"})", "colour: is not a field of any event"},
    {R"({"at_ns":1,"event":"lost","op":1,"fence":3})", "fence: does not belong to lost"},
    {R"({"at_ns":1,"event":"vanished","op":1})", "event: is not a known event"},
    {R"({"at_ns":1,"event":"","op":1})", "event: is not a known event"},
    {R"({"at_ns":1,"event":7,"op":1})", "event: must be a string"},
    {R"({"at_ns":1,"event":"lost","op":2})", "op: was not asked for before"},
    {R"({"at_ns":1,"event":"lost","op":true})", "op: must be a string or a whole number"},
    {R"({"at_ns":1,"event":"lost","op":null})", "op: must be a string or a whole number"},
    {R"({"at_ns":1,"event":"lost","op":18446744073709551615})", "op: must be a string or a whole"},
    {R"({"at_ns":-1,"event":"lost","op":1})", "at_ns: must be a whole number of nanoseconds"},
    {R"({"at_ns":1.5,"event":"lost","op":1})", "at_ns: must be a whole number"},
    {R"({"at_ns":1e9,"event":"lost","op":1})", "at_ns: must be a whole number"},
    {R"({"at_ns":"1","event":"lost","op":1})", "at_ns: must be a whole number of nanoseconds"},
    {R"({"at_ns":"never","event":"lost","op":1})", "at_ns: must be a whole number of nanoseconds"},
    {R"({"at_ns":9223372036854775808,"event":"lost","op":1})", "at_ns: must be a whole number"},
    {R"({"at_ns":99999999999999999999999,"event":"lost","op":1})", "at_ns: is too large"},
    {R"({"at_ns":01,"event":"lost","op":1})", "at_ns: must not begin with a zero"},
    {R"({"at_ns":NaN,"event":"lost","op":1})", "at_ns: is not a JSON value"},
    {R"({"at_ns":tru,"event":"lost","op":1})", "at_ns: is not a JSON value"},
    {R"({"at_ns":-,"event":"lost","op":1})", "at_ns: is not a JSON value"},
    {R"({"at_ns":)", "at_ns: the line ends before the value"},
    {R"({"at_ns":[1],"event":"lost","op":1})", "at_ns: must not be an object or a list"},
    {R"({"at_ns":1,"event":"lost","op":{"a":1}})", "op: must not be an object or a list"},
    {R"({"at_ns":1,"event":"lost","op":"x)", "op: the line ends inside a string"},
    {R"({"at_ns":1,"event":"lost","op":"x\)", "op: the line ends inside a string"},
    {R"({"at_ns":1,"event":"lost","op":"\q"})", "op: has an unknown escape"},
    {R"({"at_ns":1,"event":"lost","op":"\u12"})", "op: has an unknown escape"},
    {R"({"at_ns":1,"event":"lost","op":"\ud800x"})", "op: has half of a surrogate pair"},
    {R"({"at_ns":1,"event":"lost","op":"\udc00"})", "op: has half of a surrogate pair"},
    {"{\"at_ns\":1,\"event\":\"lost\",\"op\":\"\t\"}", "op: has a bare control character"},
    {R"({"at_ns":1,"event":"granted","op":1,"fence":-1,"until_ns":3})", "fence: must be a whole"},
    {R"({"at_ns":1,"event":"granted","op":1,"fence":"3","until_ns":3})", "fence: must be a whole"},
    {R"({"at_ns":1,"event":"granted","op":1,"fence":3})", "until_ns: is missing; granted needs it"},
    {R"({"at_ns":1,"event":"read","op":1,"fence":3,"value":1,"accepted":1})",
     "accepted: must be true or false"},
    {R"({"at_ns":1,"event":"read","op":1,"fence":3,"value":9223372036854775808,"accepted":true})",
     "value: must be a whole number of at most 63 bits"},
    {R"({"at_ns":1,"event":"failed","op":1,"detail":3})", "detail: must be a string"},
    {R"({"at_ns":1,"event":"freed","op":1,"by":"nobody"})", "by: was not asked for before"},
    {R"({"at_ns":1,"event":"forced","name":true})", "name: must be a string or a whole number"},
    {R"({"at_ns":1,"event":"asked","op":1,"name":"x","process":1,"ttl_ns":1})",
     "op: asks a second time"},
    {R"({"at_ns":1,"event":"asked","op":2,"name":"x","process":1})", "ttl_ns: is missing"},
    {R"({"at_ns":1,"event":"asked","op":2,"name":"x","process":1,"ttl_ns":1,"permits":0})",
     "permits: must be at least 1"},
    {R"({"at_ns":1,"event":"asked","op":2,"name":"x","process":1,"ttl_ns":1,"permits":3,"capacity":2})",
     "permits: must not be larger than the capacity"},
    {R"({"at_ns":1,"event":"asked","op":2,"name":"x","process":1,"ttl_ns":1,"permits":4294967295})",
     R"(permits: must be "all" or a whole number below)"},
    {R"({"at_ns":1,"event":"asked","op":2,"name":"x","process":1,"ttl_ns":1,"fifo":"yes"})",
     "fifo: must be true or false"},
    {R"({"at_ns":1,"event":"asked","op":2,"name":"x","process":1,"ttl_ns":1,"converts":2})",
     "converts: was not asked for before"},
};

TEST(Jsonl, says_what_is_wrong_with_a_line_and_in_which_field) {
  for (const BadInput& bad : bad_inputs) {
    SCOPED_TRACE(bad.text);
    const Parsed history = read_jsonl(
        "{\"at_ns\":0,\"event\":\"asked\",\"op\":1,\"name\":\"x\",\"process\":1,\"ttl_ns\":1}\n" +
        bad.text);
    ASSERT_FALSE(history);
    EXPECT_THAT(history.error(), StartsWith("line 2: "));
    EXPECT_THAT(history.error(), HasSubstr(bad.why));
  }
}

TEST(Jsonl, refuses_lines_without_end) {
  const std::string spaces(max_line_bytes + 1, ' ');
  EXPECT_THAT(read_jsonl(spaces).error(), HasSubstr("longer than 1 MiB"));
  std::string fields = "{\"at_ns\":0";
  for (int i = 0; i < 40; ++i) fields += ",\"x" + std::to_string(i) + "\":\"\\n\"";
  EXPECT_THAT(read_jsonl(fields + "}").error(), HasSubstr("too many fields"));
}

TEST(Jsonl, no_cut_makes_it_crash) {
  const std::string text = to_jsonl(story(upgrade));
  for (std::size_t size = 0; size < text.size(); ++size) {
    const Parsed history = read_jsonl(std::string_view(text).substr(0, size));
    if (history) check(*history);
  }
}

TEST(Jsonl, a_file_is_read_in_pieces) {
  History history;
  history.names = {"lock"};
  for (OpId op = 1; op <= 60'000; ++op) {
    history.attempts.push_back({.name = 1, .process = 1, .owner = op, .ttl = 1});
    history.events.push_back({.at = op, .op = op, .process = 1, .what = What::asked});
  }
  const std::string text = to_jsonl(history);
  ASSERT_GT(text.size(), 2 * max_line_bytes);
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  std::fwrite(text.data(), 1, text.size(), file);
  std::rewind(file);
  const Parsed again = read_jsonl(file);
  std::fclose(file);
  ASSERT_TRUE(again) << again.error();
  expect_same(history, *again);
}

}  // namespace
}  // namespace holdfast::history::test
