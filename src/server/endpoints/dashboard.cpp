// SPDX-License-Identifier: Apache-2.0
//
// GET / and /assets/…: the dashboard. The files are the same for everybody and tell nothing; what
// they show, the page asks for with the token of whoever looks at it.
#include "server/dashboard/files.hpp"
#include "server/http/answer.hpp"
#include "server/http/call.hpp"

#include <algorithm>
#include <array>

namespace holdfast::server {
namespace {

// Nothing but files of this server, nothing in line, and nobody may put the page into theirs.
constexpr auto policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const WebFile* find(std::string_view folder, std::string_view name) {
  const auto files = web_files();
  const auto found = std::ranges::find_if(files, [&](const WebFile& file) {
    return file.path.size() == folder.size() + name.size() && file.path.starts_with(folder) &&
           file.path.ends_with(name);
  });
  return found != files.end() ? &*found : nullptr;
}

// "gzip, deflate, br", "*;q=0.5"; a weight of zero is a refusal.
bool takes_gzip(std::string_view accepted) {
  while (!accepted.empty()) {
    const auto end = std::min(accepted.find(','), accepted.size());
    auto each = accepted.substr(0, end);
    accepted.remove_prefix(std::min(end + 1, accepted.size()));
    while (each.starts_with(' ')) each.remove_prefix(1);
    if (!each.starts_with("gzip")) continue;
    each.remove_prefix(std::string_view("gzip").size());
    const auto weight = each.find("q=");
    if (weight == each.npos) return each.empty() || each.front() == ' ' || each.front() == ';';
    return each.find_first_of("123456789", weight) != each.npos;
  }
  return false;
}

Response serve(const Call& call, const WebFile& file) {
  const bool packed = !file.gzip.empty() && takes_gzip(call.request.header("Accept-Encoding"));
  Response response{.status = 200,
                    .content_type = file.content_type,
                    .body = std::string(packed ? file.gzip : file.plain),
                    .headers = {{"X-Content-Type-Options", "nosniff"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Vary", "Accept-Encoding"}}};
  if (packed) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

Task<Response> page(const Call& call) {
  const auto* index = find("", "index.html");
  auto response = serve(call, index != nullptr ? *index : plain_page);
  response.headers.emplace_back("Content-Security-Policy", policy);
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  return done(std::move(response));
}

Task<Response> asset(const Call& call) {
  const auto* file = find("assets/", call.parameters[0]);
  if (file == nullptr) {
    return done(answer(Problem{404, "not_found", "the dashboard has no such file"}));
  }
  auto response = serve(call, *file);
  // Its name has the hash of what is in it.
  response.cacheable = true;
  response.headers.emplace_back("Cache-Control", "public, max-age=31536000, immutable");
  return done(std::move(response));
}

constexpr std::array dashboard_table{
    Route{Method::get, "/", Access::open, page},
    Route{Method::get, "/assets/{file}", Access::open, asset},
};

}  // namespace

extern const std::span<const Route> dashboard_routes;
const std::span<const Route> dashboard_routes = dashboard_table;

}  // namespace holdfast::server
