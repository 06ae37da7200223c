// SPDX-License-Identifier: Apache-2.0
#include "net/http/header_parser.hpp"

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/verb.hpp>

namespace holdfast::net::http {

namespace {

using boost::beast::http::verb;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

Method method_of(verb known) {
  switch (known) {
    case verb::get: return Method::get;
    case verb::head: return Method::head;
    case verb::post: return Method::post;
    case verb::put: return Method::put;
    case verb::delete_: return Method::del;
    case verb::options: return Method::options;
    default: return Method::other;
  }
}

// "http://host:port/path" as a proxy would send it: the authority stands for the Host header.
std::string_view split_absolute(std::string_view target, Request& request) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    target.remove_prefix(scheme.size());
    const auto end = std::min(target.find_first_of("/?"), target.size());
    request.host = target.substr(0, end);
    target.remove_prefix(end);
    return target;
  }
  return target;
}

}  // namespace

void HeaderParser::on_request_impl(verb known, Text method, Text target, int version,
                                   ErrorCode& failed) {
  if (version != 10 && version != 11) {
    failed = boost::beast::http::error::bad_version;
    return;
  }
  request_.method = method_of(known);
  request_.method_text = view(method);
  request_.version = version;
  const auto path = split_absolute(view(target), request_);
  const auto question = std::min(path.find('?'), path.size());
  request_.path = question > 0 ? path.substr(0, question) : std::string_view("/");
  request_.query = path.substr(std::min(question + 1, path.size()));
}

void HeaderParser::on_field_impl(boost::beast::http::field, Text name, Text value, ErrorCode&) {
  request_.headers.push_back({view(name), view(value)});
}

}  // namespace holdfast::net::http
