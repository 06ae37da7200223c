// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/fence_guard.hpp"

#include "backends/redis/keys.hpp"
#include "backends/redis/record.hpp"
#include "net/resp/command.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::backends::redis {

std::string encode_check(const Scripts& scripts, const LockName& name,
                         const model::GuardCommand& command, Sending sending) {
  using std::chrono::milliseconds;
  const Scripts::Source& source = scripts[Script::check_fence];
  return net::resp::command(
      sending.by_text ? "EVAL" : "EVALSHA", sending.by_text ? source.text : source.sha1, "1",
      fmt::format("{}{}{}", guard_before, name.str(), guard_after), std::to_string(command.fence),
      std::to_string(std::chrono::ceil<milliseconds>(command.keep).count()),
      sending.must_write ? "1" : "0");
}

Result<store::Reply> decode_check(const redisReply& reply) {
  const bool has_two = reply.type == REDIS_REPLY_ARRAY && reply.elements == 2;
  const bool has_both = has_two && reply.element[0]->type == REDIS_REPLY_INTEGER &&
                        reply.element[1]->type == REDIS_REPLY_STRING;
  const auto newest = has_both ? parse_digits(net::resp::text_of(*reply.element[1])) : std::nullopt;
  if (!newest)
    return fail(Errc::outcome_unknown, "the answer to a check of a fence makes no sense");
  return store::Reply{
      {}, model::GuardOutcome{.accepted = reply.element[0]->integer == 1, .newest = *newest}};
}

}  // namespace holdfast::backends::redis
