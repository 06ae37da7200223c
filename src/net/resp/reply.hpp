// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <string_view>

namespace holdfast::net::resp {

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
// What hiredis' parser made of a reply. An error reply of the server is a reply like any other.
using Reply = std::unique_ptr<redisReply, FreeReply>;

inline bool is_error(const redisReply& reply) { return reply.type == REDIS_REPLY_ERROR; }
inline std::string_view text_of(const redisReply& reply) { return {reply.str, reply.len}; }

}  // namespace holdfast::net::resp
