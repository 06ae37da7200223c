// SPDX-License-Identifier: Apache-2.0
//
// Forced releases that end only the leases of one source.
#include "store_contract.hpp"

namespace holdfast::test {

namespace {

model::ForceRelease of_source(std::string source) {
  return {.up_to = UINT64_MAX, .source = std::move(source)};
}

}  // namespace

TEST_P(StoreContract, a_forced_release_with_a_source_ends_a_lease_that_names_it_and_no_other) {
  const auto fence = granted(acquire({.owner = "anna", .source = "execution-7"})).fence;
  for (const auto* other : {"execution-8", "execution-", "execution-77", "Execution-7", " "}) {
    must_be<model::NotOwner>(apply({spec, of_source(other)}));
  }
  EXPECT_EQ(inspect().holders.size(), 1U);
  const auto forced = must_be<model::Forced>(apply({spec, of_source("execution-7")}));
  EXPECT_EQ(forced.count, 1U);
  EXPECT_GT(forced.fence, fence);
  EXPECT_TRUE(inspect().holders.empty());
  must_be<model::NotHeld>(apply({spec, of_source("execution-7")}));
}

TEST_P(StoreContract, a_lease_without_a_source_is_nobodys) {
  granted(acquire({.owner = "anna"}));
  must_be<model::NotOwner>(apply({spec, of_source("execution-7")}));
  EXPECT_EQ(must_be<model::Forced>(apply({spec, of_source("")})).count, 1U);
}

TEST_P(StoreContract, a_source_may_have_any_text) {
  for (const std::string source : {"a b", "gr\xc3\xbc\xc3\x9f", "line\nline", "3:a,b;c|d",
                                   "\"quoted\" \\ 'and' %s {} $1", "7"}) {
    granted(acquire({.owner = "anna", .note = "a note", .source = source}));
    must_be<model::NotOwner>(apply({spec, of_source(source + "x")}));
    EXPECT_EQ(must_be<model::Forced>(apply({spec, of_source(source)})).count, 1U) << source;
  }
  const std::string longest(max_metadata_bytes, 's');
  granted(acquire({.owner = "anna", .source = longest}));
  EXPECT_EQ(must_be<model::Forced>(apply({spec, of_source(longest)})).count, 1U);
}

TEST_P(StoreContract, of_several_leases_those_of_the_source_end) {
  spec = Spec::semaphore(5);
  if (const auto why = why_not(spec); !why.empty()) GTEST_SKIP() << why;
  granted(acquire({.owner = "anna", .source = "execution-7"}));
  const auto last = granted(acquire({.owner = "ben", .source = "execution-7"})).fence;
  granted(acquire({.owner = "cleo", .source = "execution-8"}));
  granted(acquire({.owner = "dora", .source = "execution-7"}));
  const model::ForceRelease up_to{.up_to = last, .source = "execution-7"};
  EXPECT_EQ(must_be<model::Forced>(apply({spec, up_to})).count, 2U);
  EXPECT_EQ(inspect().holders.size(), 2U);
  EXPECT_EQ(must_be<model::Forced>(apply({spec, of_source("execution-7")})).count, 1U);
  must_be<model::Released>(release("cleo"));
}

TEST_P(StoreContract, a_source_that_no_metadata_can_have_is_refused_and_changes_nothing) {
  granted(acquire({.owner = "anna"}));
  for (const auto& bad :
       {std::string(max_metadata_bytes + 1, 's'), std::string("b\xe4"), std::string("a\0b", 3)}) {
    const auto reply = send(model::LockCommand{spec, of_source(bad)}, "orders:42");
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().code, Errc::bad_input);
    EXPECT_TRUE(reply.error().message.starts_with("source must ")) << reply.error().message;
  }
  EXPECT_EQ(inspect().holders.size(), 1U);
}

}  // namespace holdfast::test
