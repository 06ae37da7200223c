// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/http/message.hpp"

#include <boost/beast/http/basic_parser.hpp>

namespace holdfast::net::http {

// Beast's grammar of a header, with views into the caller's buffer instead of copies. The buffer
// must hold the whole header, without folded lines. Nothing behind the header is read.
class HeaderParser final : public boost::beast::http::basic_parser<true> {
 public:
  explicit HeaderParser(Request& request) : request_(request) {}

 private:
  using ErrorCode = boost::beast::error_code;
  using Text = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb, Text method, Text target, int version,
                       ErrorCode& failed) override;
  void on_response_impl(int, Text, int, ErrorCode&) override {}
  void on_field_impl(boost::beast::http::field, Text name, Text value, ErrorCode&) override;
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(Text body, ErrorCode&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, ErrorCode&) override {
    return body.size();
  }
  void on_finish_impl(ErrorCode&) override {}

  Request& request_;
};

}  // namespace holdfast::net::http
