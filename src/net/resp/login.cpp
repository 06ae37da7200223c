// SPDX-License-Identifier: Apache-2.0
#include "net/resp/login.hpp"

#include "net/resp/command.hpp"

#include <cassert>

namespace holdfast::net::resp {

namespace {

constexpr std::string_view loading = "LOADING";

void say(Opening& opening, std::string command) {
  opening.bytes += command;
  ++opening.replies;
}

Result<void> refuse(const redisReply& reply) {
  return fail(Errc::unavailable, std::string(text_of(reply)));
}

}  // namespace

Opening login(const Endpoint& endpoint) {
  Opening opening;
  if (!endpoint.password.empty()) {
    say(opening, endpoint.user.empty() ? command("AUTH", endpoint.password)
                                       : command("AUTH", endpoint.user, endpoint.password));
  }
  if (endpoint.database != 0) say(opening, command("SELECT", std::uint64_t{endpoint.database}));
  // A server may let us in and still not serve: PING is what tells.
  say(opening, command("PING"));
  say(opening, command("CLIENT", "SETNAME", "holdfast"));
  return opening;
}

Result<void> judge_login(const Endpoint& endpoint, std::span<const Reply> replies) {
  const std::size_t must_succeed =
      (endpoint.password.empty() ? 0U : 1U) + (endpoint.database == 0 ? 0U : 1U);
  assert(replies.size() > must_succeed);
  for (const Reply& reply : replies.first(must_succeed)) {
    if (is_error(*reply)) return refuse(*reply);
  }
  const redisReply& ping = *replies[must_succeed];
  if (!is_error(ping)) return {};
  // A user may well have no right to PING; the commands that matter will tell.
  const auto text = text_of(ping);
  if (text.starts_with(loading) || text.starts_with("NOAUTH")) return refuse(ping);
  return {};
}

bool is_loading(const Error& error) { return error.message.contains(loading); }

}  // namespace holdfast::net::resp
