// SPDX-License-Identifier: Apache-2.0
//
// The payments of docs/payments.md: with all layers the books are right, and each layer is there
// for something.
#include "docs/repository.hpp"
#include "support/program.hpp"

#include <gmock/gmock.h>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Payments : public testing::Test {
 protected:
  struct Played {
    int code = 0;
    std::string said;
  };

  // Beside the folder of this very program.
  static fs::path program() {
    return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "examples/payments";
  }
  void SetUp() override {
    if (!fs::exists(program())) GTEST_SKIP() << program() << " was not built";
  }
  static Played play(std::vector<std::string> words = {}) {
    words.insert(words.begin(), program().string());
    Program payments(std::move(words));
    const int code = payments.wait(std::chrono::seconds(120));
    return {code, payments.out()};
  }
};

TEST_F(Payments, with_all_layers_everybody_pays_once_and_is_told_so) {
  const auto played = play();
  EXPECT_EQ(played.code, 0);
  EXPECT_THAT(played.said, Not(HasSubstr("WRONG")));
  EXPECT_THAT(read_text(repository() / "docs/payments.md"), HasSubstr(played.said))
      << "the page shows what the program says";
}

TEST_F(Payments, without_idempotency_customers_get_errors_and_the_books_stay_right) {
  const auto played = play({"--without", "idempotency"});
  EXPECT_EQ(played.code, 1);
  EXPECT_THAT(played.said,
              AllOf(HasSubstr("1 of 8 requests"), HasSubstr("was told: this order was paid before"),
                    Not(HasSubstr("instead of")), Not(ContainsRegex("was paid [0-9]+ times"))));
}

TEST_F(Payments, without_a_lock_one_of_two_payments_is_not_in_the_balance) {
  const auto played = play({"--without", "lock"});
  EXPECT_EQ(played.code, 1);
  EXPECT_THAT(played.said, HasSubstr("bob has 800 instead of 700"));
}

TEST_F(Payments, without_a_fence_a_process_that_slept_writes_what_it_read_before) {
  const auto played = play({"--without", "fence"});
  EXPECT_EQ(played.code, 1);
  EXPECT_THAT(played.said, HasSubstr("eve has 900 instead of 700"));
}

TEST_F(Payments, without_a_constraint_a_crash_books_twice) {
  const auto played = play({"--without", "constraint"});
  EXPECT_EQ(played.code, 1);
  EXPECT_THAT(played.said, AllOf(HasSubstr("order-41 was paid 2 times"),
                                 HasSubstr("dan has 800 instead of 900")));
}

TEST_F(Payments, refuses_layers_that_it_does_not_have) {
  EXPECT_EQ(play({"--without", "luck"}).code, 64);
  EXPECT_EQ(play({"--pay", "order-1"}).code, 64);
}

}  // namespace
}  // namespace holdfast::test
