// SPDX-License-Identifier: Apache-2.0
#include "net/http/client_response_reader.hpp"

#include <boost/beast/http/error.hpp>

namespace holdfast::net::http {

namespace {
namespace beast = boost::beast;
using ErrorCode = beast::error_code;
using Text = beast::string_view;

constexpr std::uint32_t max_header_bytes = 32 * 1024;

bool is_success(int status) { return status >= 200 && status < 300; }
}  // namespace

class ResponseReader::Parser final : public beast::http::basic_parser<false> {
 public:
  Parser(ClientResponse& response, const Options& options)
      : response_(response), options_(options) {
    header_limit(max_header_bytes);
    // Pieces that are passed on need no room, but a refusal is gathered: see on_header_impl.
    body_limit(options.max_body_bytes);
    skip(options.is_answer_to_head);
    eager(true);
  }

 private:
  void on_request_impl(beast::http::verb, Text, Text, int, ErrorCode&) override {}
  void on_response_impl(int status, Text, int, ErrorCode&) override {
    response_ = {.status = status};
  }
  void on_field_impl(beast::http::field, Text name, Text value, ErrorCode&) override {
    // Not those behind a chunked body.
    if (!is_header_done()) response_.headers.emplace_back(name, value);
  }
  void on_header_impl(ErrorCode&) override {
    if (!is_success(response_.status)) return;
    if (options_.sink) body_limit(boost::none);
    if (options_.on_head) options_.on_head(response_);
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(Text body, ErrorCode&) override { return add(body); }
  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, ErrorCode&) override {
    return add(body);
  }
  void on_finish_impl(ErrorCode&) override {}

  std::size_t add(Text body) {
    if (options_.sink && is_success(response_.status)) {
      options_.sink({body.data(), body.size()});
    } else {
      response_.body.append(body.data(), body.size());
    }
    return body.size();
  }

  ClientResponse& response_;
  const Options& options_;
};

ResponseReader::ResponseReader(Options options) : options_(std::move(options)) { start(); }

void ResponseReader::start() { parser_ = std::make_shared<Parser>(response_, options_); }

bool ResponseReader::keeps_alive() const { return parser_->keep_alive() && unread_.empty(); }

ResponseReader::Progress ResponseReader::refuse(const ErrorCode& why) {
  complaint_ = why.message();
  return Progress::malformed;
}

ResponseReader::Progress ResponseReader::parse() {
  while (!unread_.empty() && !parser_->is_done()) {
    ErrorCode failed;
    const auto used = parser_->put(boost::asio::buffer(unread_), failed);
    unread_.erase(0, used);
    if (failed == beast::http::error::need_more) return Progress::needs_more;
    if (failed) return refuse(failed);
    const bool is_interim = parser_->is_done() && response_.status < 200;
    if (is_interim) start();
  }
  return parser_->is_done() ? Progress::complete : Progress::needs_more;
}

ResponseReader::Progress ResponseReader::feed(std::string_view bytes) {
  is_empty_ = is_empty_ && bytes.empty();
  unread_.append(bytes);
  return parse();
}

ResponseReader::Progress ResponseReader::end() {
  ErrorCode failed;
  parser_->put_eof(failed);
  if (failed) return refuse(failed);
  return Progress::complete;
}

}  // namespace holdfast::net::http
