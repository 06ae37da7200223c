// SPDX-License-Identifier: Apache-2.0
#include "guard/resource.hpp"

#include "guard/options.hpp"
#include "support/running.hpp"

#include <gtest/gtest.h>

namespace holdfast::guard {
namespace {

using test::error_of;
using test::value_of;

std::string name(std::string_view rule, std::string_view path,
                 std::vector<net::http::Header> headers = {}, std::string_view host = "shop") {
  net::http::Request request;
  request.path = path;
  request.host = host;
  for (const auto& each : headers) request.headers.push_back(each);
  const auto resource = resource_of(value_of(parse_resource_rule(rule)), request);
  return resource ? *resource : resource.error().message;
}

TEST(Resource, is_the_path_by_default) {
  EXPECT_EQ(name("path", "/orders/42"), "/orders/42");
  EXPECT_EQ(name("path", "/"), "/");
}

TEST(Resource, two_spellings_of_one_path_are_one) {
  EXPECT_EQ(name("path", "/%6Frders/4%32"), "/orders/42");
  EXPECT_EQ(name("path", "/a/"), "/a/");
  for (const auto* path : {"/a%2fb", "/a%5cb", "/a\\b"}) {
    EXPECT_EQ(name("path", path),
              "path: must have no escaped slash or backslash, to be one resource");
  }
  for (const auto* path : {"//a", "/a//b", "//"}) {
    EXPECT_EQ(name("path", path), "path: must have no empty segment, to be one resource") << path;
  }
  EXPECT_EQ(name("path", "/gr\xc3\xbc"), "/gr%C3%BC");
  EXPECT_EQ(name("path", "/gr%c3%bc"), "/gr%C3%BC");
}

TEST(Resource, a_path_that_services_read_differently_names_none) {
  const std::string dots = "path: must have no segment . or .., to be one resource";
  for (const auto* path : {"/a/../b", "/a/./b", "/..", "/a/%2e%2E/b", "/a/."}) {
    EXPECT_EQ(name("path", path), dots) << path;
    EXPECT_EQ(name("path-prefix:1", path), dots) << path;
  }
  EXPECT_EQ(name("path", "/a/...b"), "/a/...b");
  for (const auto* path : {"/%", "/%1", "/%zz", "/a%4"}) {
    EXPECT_EQ(name("path", path), "path: a % must begin an escape such as %2F") << path;
  }
}

TEST(Resource, may_be_the_first_segments) {
  EXPECT_EQ(name("path-prefix:2", "/orders/42/items/7"), "/orders/42");
  EXPECT_EQ(name("path-prefix:2", "/orders/42"), "/orders/42");
  EXPECT_EQ(name("path-prefix:2", "/orders"), "/orders");
  EXPECT_EQ(name("path-prefix:1", "/orders/%34"), "/orders");
}

TEST(Resource, may_be_the_host_in_lower_case) {
  EXPECT_EQ(name("host", "/a", {}, "Shop.Example:80"), "shop.example:80");
}

TEST(Resource, may_be_a_header_that_stands_there_once) {
  EXPECT_EQ(name("header:X-Order", "/a", {{"x-order", "42"}}), "42");
  const std::string rule = "X-Order: must be given once, and not be empty: it names the resource";
  EXPECT_EQ(name("header:X-Order", "/a"), rule);
  EXPECT_EQ(name("header:X-Order", "/a", {{"X-Order", ""}}), rule);
  EXPECT_EQ(name("header:X-Order", "/a", {{"X-Order", "1"}, {"X-Order", "1"}}), rule);
}

TEST(Resource, other_rules_are_refused_by_name) {
  for (const auto* rule : {"", "Path", "header:", "header:a b", "header:a:b",
                           "path-prefix:", "path-prefix:0", "path-prefix:17", "path-prefix:-1",
                           "path-prefix:1x", "path-prefix:99999999999999999999", "query"}) {
    const auto parsed = parse_resource_rule(rule);
    EXPECT_EQ(error_of(parsed), Errc::bad_input) << rule;
    EXPECT_TRUE(parsed.error().message.starts_with("--resource: ")) << parsed.error().message;
  }
}

TEST(UpstreamUrl, names_a_service) {
  EXPECT_EQ(value_of(parse_upstream("http://app")).origin.port, 80);
  EXPECT_EQ(value_of(parse_upstream("https://app")).origin.port, 443);
  EXPECT_TRUE(value_of(parse_upstream("https://app")).origin.tls.has_value());
  EXPECT_EQ(value_of(parse_upstream("http://[::1]:8080/base/")).origin.host, "::1");
  EXPECT_EQ(value_of(parse_upstream("http://app:8080/base/")).base, "/base");
  EXPECT_EQ(value_of(parse_upstream("http://app/")).base, "");
  EXPECT_EQ(value_of(parse_upstream("unix:/run/app.sock")).origin.unix_path, "/run/app.sock");
  for (const auto* url : {"", "app:8080", "ftp://app", "http://", "http://a,b", "http://me:pw@app",
                          "http://app/?a=b", "http://app/#x", "unix:run", "unix:"}) {
    const auto parsed = parse_upstream(url);
    EXPECT_EQ(error_of(parsed), Errc::bad_input) << url;
    EXPECT_TRUE(parsed.error().message.starts_with("--upstream: ")) << parsed.error().message;
    EXPECT_FALSE(parsed.error().message.contains("pw")) << parsed.error().message;
  }
}

}  // namespace
}  // namespace holdfast::guard
