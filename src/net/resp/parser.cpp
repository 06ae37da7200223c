// SPDX-License-Identifier: Apache-2.0
#include "net/resp/parser.hpp"

#include <new>
#include <string>

namespace holdfast::net::resp {

namespace {

redisReplyObjectFunctions* plain_functions = nullptr;

// An array's room is allocated as soon as its length is read, before any element came.
void* create_bounded_array(const redisReadTask* task, int elements) {
  if (elements > Parser::most_elements) return nullptr;
  return plain_functions->createArray(task, elements);
}

redisReplyObjectFunctions* bounded_functions(redisReplyObjectFunctions* plain) {
  static redisReplyObjectFunctions bounded = [plain] {
    plain_functions = plain;
    redisReplyObjectFunctions changed = *plain;
    changed.createArray = &create_bounded_array;
    return changed;
  }();
  return &bounded;
}

}  // namespace

Parser::Parser() : reader_(redisReaderCreate()) {
  if (!reader_) throw std::bad_alloc();
  reader_->fn = bounded_functions(reader_->fn);
}

void Parser::feed(std::string_view bytes) {
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
}

Result<Reply> Parser::next() {
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
    return fail(Errc::unavailable, std::string("not a reply: ") + reader_->errstr);
  }
  if (!reply && reader_->len - reader_->pos > most_bytes) {
    return fail(Errc::unavailable, "a reply is too large");
  }
  return Reply(static_cast<redisReply*>(reply));
}

}  // namespace holdfast::net::resp
