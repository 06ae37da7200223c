// SPDX-License-Identifier: Apache-2.0
//
// What the compiler says of names that cannot be made.
#include "support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class NameInTheSource : public testing::Test {
 protected:
  void SetUp() override {
    if (test::run({"sh", "-c", "command -v c++"}).code != 0) GTEST_SKIP() << "there is no c++";
  }
  // What the compiler complains of; nothing if it takes it.
  static std::string complaint(const std::string& call) {
    const auto include =
        std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "include";
    const std::string source =
        "#include <holdfast/locked.hpp>\n"
        "struct Basket { int size = 0; void add(int); };\n"
        "void use(const holdfast::Client& client) { auto call = holdfast::locked(client, " +
        call + "); (void)call; }\n";
    const auto finished =
        test::run({"c++", "-std=c++23", "-fsyntax-only", "-x", "c++", "-I" + include.string(), "-"},
                  {.environment = {"LC_ALL=C"}, .input = source});
    EXPECT_EQ(finished.code == 0, finished.err.empty()) << finished.err;
    return finished.err;
  }
};

TEST_F(NameInTheSource, may_ask_for_what_is_there) {
  EXPECT_EQ(complaint(R"("order:{1}", {}, &Basket::add)"), "");
}

TEST_F(NameInTheSource, must_not_ask_for_an_argument_that_is_not_there) {
  EXPECT_THAT(complaint(R"("order:{}:{}", {}, [](int, const holdfast::Lease&) {})"),
              HasSubstr("a_name_pattern_asks_for_an_argument_that_is_not_there"));
}

TEST_F(NameInTheSource, must_not_ask_for_an_argument_without_a_text) {
  EXPECT_THAT(complaint(R"("basket:{}", {}, [](const Basket&) {})"),
              HasSubstr("a_name_pattern_asks_for_an_argument_that_has_no_text"));
}

TEST_F(NameInTheSource, must_be_a_pattern) {
  EXPECT_THAT(complaint(R"("order:{", {}, [](int) {})"),
              HasSubstr("a_name_pattern_has_a_brace_without_its_partner"));
}

}  // namespace
}  // namespace holdfast::test
