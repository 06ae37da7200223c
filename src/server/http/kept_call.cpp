// SPDX-License-Identifier: Apache-2.0
#include "server/http/kept_call.hpp"

#include <cassert>

namespace holdfast::server {
namespace {

std::size_t bytes_of(const net::http::Request& request) {
  auto bytes = request.method_text.size() + request.path.size() + request.query.size() +
               request.host.size() + request.body.size();
  for (const auto& header : request.headers) bytes += header.name.size() + header.value.size();
  return bytes;
}

}  // namespace

std::string_view KeptCall::keep(std::string_view view) {
  assert(text_.size() + view.size() <= text_.capacity());
  const auto at = text_.size();
  text_.append(view);
  return std::string_view(text_).substr(at, view.size());
}

net::http::Request KeptCall::copy_of(const net::http::Request& request) {
  text_.reserve(bytes_of(request));
  auto copy = request;
  copy.method_text = keep(request.method_text);
  copy.path = keep(request.path);
  copy.query = keep(request.query);
  copy.host = keep(request.host);
  copy.body = keep(request.body);
  for (auto& header : copy.headers) header = {keep(header.name), keep(header.value)};
  copy.owner = this;
  copy.make_stop = [](void* kept) { return static_cast<KeptCall*>(kept)->stop_; };
  copy.make_left = [](void* kept) { return static_cast<KeptCall*>(kept)->left_; };
  return copy;
}

KeptCall::KeptCall(const Call& call)
    : stop_(call.request.stop()),
      left_(call.request.left()),
      request_(copy_of(call.request)),
      call_{call.services, request_, call.parameters, call.principal} {}

}  // namespace holdfast::server
