// SPDX-License-Identifier: Apache-2.0
#include "forrst/urn.hpp"

#include <holdfast/forrst/function.hpp>
#include <holdfast/forrst/service.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::forrst {
namespace {

using Urns = std::vector<std::string>;

TEST(Urn, each_extension_is_known_under_every_spelling_in_use) {
  EXPECT_EQ(urns_of(Extension::atomic_lock),
            (Urns{"urn:cline:forrst:ext:atomic-lock", "urn:forrst:ext:atomic-lock",
                  "urn:forrst:ext:atomicLock"}));
  EXPECT_EQ(urns_of(Extension::rate_limit),
            (Urns{"urn:cline:forrst:ext:rate-limit", "urn:forrst:ext:rate-limit",
                  "urn:forrst:ext:rateLimit"}));
  EXPECT_EQ(urns_of(Extension::deadline),
            (Urns{"urn:cline:forrst:ext:deadline", "urn:forrst:ext:deadline"}));
  EXPECT_EQ(urns_of(Extension::idempotency),
            (Urns{"urn:cline:forrst:ext:idempotency", "urn:forrst:ext:idempotency"}));
  EXPECT_EQ(urns_of(Extension::retry),
            (Urns{"urn:cline:forrst:ext:retry", "urn:forrst:ext:retry"}));
  for (std::size_t i = 0; i < extension_count; ++i) {
    const auto extension = static_cast<Extension>(i);
    EXPECT_EQ(urn_of(extension), urns_of(extension).front());
    EXPECT_EQ(extension_named(name_of(extension)), extension);
    for (const auto& urn : urns_of(extension)) {
      EXPECT_EQ(known_extension(urn), extension) << urn;
      EXPECT_TRUE(is_urn(urn)) << urn;
    }
  }
}

TEST(Urn, no_other_spelling_of_an_extension_is_known) {
  for (const auto* urn :
       {"urn:cline:forrst:ext:atomicLock", "urn:cline:forrst:ext:rateLimit",
        "urn:forrst:ext:AtomicLock", "urn:forrst:ext:atomic_lock", "urn:forrst:ext:atomiclock",
        "urn:acme:forrst:ext:atomic-lock", "URN:forrst:ext:atomicLock",
        "urn:forrst:ext:atomicLock:fn:release",
        "urn:forrst:ext:", "urn:cline:forrst:ext:", "urn:cline:forrst:fn:atomic-lock",
        "atomic-lock", "", "urn:forrst:ext:tracing", "urn:forrst:ext:retry "}) {
    EXPECT_FALSE(known_extension(urn)) << urn;
  }
  EXPECT_FALSE(extension_named("atomicLock"));
  EXPECT_FALSE(extension_named(""));
}

TEST(Urn, is_of_the_protocol_with_or_without_a_vendor) {
  for (const auto* urn :
       {"urn:acme:forrst:fn:pay", "urn:acme-2:forrst:ext:x:fn:a-b", "urn:forrst:fn:pay",
        "urn:forrst:ext:atomicLock", "urn:cline:forrst:ext:atomic-lock:fn:force-release",
        "urn:forrst:forrst:fn:x"}) {
    EXPECT_TRUE(is_urn(urn)) << urn;
    EXPECT_TRUE(is_function_name(urn)) << urn;
  }
  for (const auto* urn : {"",
                          "urn:",
                          "urn:acme",
                          "urn:acme:forrst",
                          "urn:acme:forrst:fn",
                          "urn:acme:forrst:fn:",
                          "urn:acme:forrst:fn:pay:",
                          "urn:acme:forrst:fn::pay",
                          "urn:acme:other:fn:pay",
                          "urn:acme:forrst:function:pay",
                          "urn:Acme:forrst:fn:pay",
                          "urn:1acme:forrst:fn:pay",
                          "urn:acme:forrst:fn:Pay",
                          "urn:acme:forrst:fn:payNow",
                          "urn:acme:forrst:fn:1pay",
                          "urn:acme:forrst:fn:pay_now",
                          "urn:acme:forrst:fn:pay.now",
                          " urn:acme:forrst:fn:pay",
                          "urn:acme:forrst:fn:pay\n",
                          "urn::forrst:fn:pay",
                          "urn:forrst:pay",
                          "urn:acme:forrst:fn:é"}) {
    EXPECT_FALSE(is_urn(urn)) << urn;
    EXPECT_FALSE(is_function_name(urn)) << urn;
  }
}

TEST(Urn, has_a_limit) {
  const std::string start = "urn:acme:forrst:fn:";
  EXPECT_TRUE(is_urn(start + std::string(max_urn_bytes - start.size(), 'a')));
  EXPECT_FALSE(is_urn(start + std::string(max_urn_bytes - start.size() + 1, 'a')));
  EXPECT_TRUE(is_function_name(start + std::string(max_function_bytes - start.size(), 'a')));
  EXPECT_FALSE(is_function_name(start + std::string(max_function_bytes - start.size() + 1, 'a')));
  EXPECT_TRUE(is_function_name(std::string(max_function_bytes, 'a')));
  EXPECT_FALSE(is_function_name(std::string(max_function_bytes + 1, 'a')));
}

TEST(Urn, a_function_may_be_words_with_dots_between_them) {
  for (const auto* name : {"payments.charge", "billing.generateReport", "ping", "a.b.c",
                           "v2.pay_all", "Orders.Ship-now"}) {
    EXPECT_TRUE(is_function_name(name)) << name;
  }
  for (const auto* name :
       {"", ".", "a.", ".a", "a..b", "a b", "a:b", "a/b", "1a", "a.1", "_a", "é", "a*", "a\n"}) {
    EXPECT_FALSE(is_function_name(name)) << name;
  }
  EXPECT_FALSE(is_function_name(std::string_view("a\0b", 3)));
  // A word like any other.
  EXPECT_TRUE(is_function_name("urn"));
  EXPECT_FALSE(is_urn("urn"));
}

TEST(Urn, the_protocol_keeps_names_for_itself) {
  for (const auto* name : {"forrst.ping", "urn:cline:forrst:fn:pay", "urn:forrst:fn:pay",
                           "urn:cline:forrst:ext:atomic-lock:fn:release"}) {
    EXPECT_TRUE(is_reserved_function(name)) << name;
  }
  for (const auto* name : {"forrst", "forrsts.ping", "my.forrst.ping", "urn:acme:forrst:fn:pay",
                           "urn:cliner:forrst:fn:pay", "ping"}) {
    EXPECT_FALSE(is_reserved_function(name)) << name;
  }
}

}  // namespace
}  // namespace holdfast::forrst
