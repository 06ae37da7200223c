// SPDX-License-Identifier: Apache-2.0
#include "shared_key.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace holdfast::test {

const std::string_view shared_key_script = R"lua(
local key, meta = KEYS[1], KEYS[2]
local kind = redis.call('TYPE', key).ok
local ends = redis.call('HGET', 'twin:expiry', key)
-- Three texts of PHP outlive the key by ten seconds.
if #KEYS == 4 then
  if kind == 'none' then return {} end
  local owner = redis.call('GET', key)
  assert(redis.call('GET', meta) == 's:' .. #owner .. ':"' .. owner .. '";', 'the text of another')
  for i = 2, 4 do
    assert(string.match(redis.call('GET', KEYS[i]) or '', '^s:%d+:".+";$'), 'no text')
    local outlives = tonumber(redis.call('HGET', 'twin:expiry', KEYS[i])) - tonumber(ends)
    assert(outlives == 10000, 'a text that ends at another time')
  end
  return {ends, owner, '1'}
end
if meta then
  assert(redis.call('EXISTS', meta) == redis.call('EXISTS', key), 'one key of two')
  assert(redis.call('HGET', 'twin:expiry', meta) == ends, 'two ends')
end
if kind == 'none' then return {} end
assert(ends, 'a key for ever')
if meta then
  assert(redis.call('GET', key) == '1', 'not our counter')
  return {ends, cjson.decode(redis.call('GET', meta)).lock_id, '1'}
end
if kind == 'string' then return {ends, redis.call('GET', key), '1'} end
local fields = redis.call('HGETALL', key)
if #fields == 2 then return {ends, fields[1], fields[2]} end
assert(#fields == 4, 'a hash of something else')
return {ends, redis.call('HGET', key, 'clientId'), redis.call('HGET', key, 'count')}
)lua";

std::optional<SharedKey> shared_key_from(const redisReply& reply) {
  if (net::resp::is_error(reply)) throw std::runtime_error(reply.str);
  if (reply.elements != 3) return std::nullopt;
  const auto text = [&](std::size_t at) {
    return std::string(net::resp::text_of(*reply.element[at]));
  };
  const auto ends = std::chrono::milliseconds(std::stoll(text(0)));
  return SharedKey{text(1), std::stoull(text(2)), model::StoreTime(ends)};
}

std::optional<std::string> difference(const model::LockState& after, model::StoreTime now,
                                      const std::optional<SharedKey>& key, Micros unit,
                                      bool is_look) {
  const model::Hold* last = nullptr;
  std::uint64_t depth = 0;
  for (const auto& hold : after.holds) {
    if (hold.expires <= now) continue;
    ++depth;
    if (last == nullptr || hold.expires > last->expires) last = &hold;
  }
  if (last == nullptr) {
    if (!key || is_look) return std::nullopt;
    return fmt::format("nobody holds the lock, and its key says '{}'", key->owner);
  }
  if (!key) return fmt::format("'{}' holds the lock, and its key is gone", last->owner.view());
  const Micros longer = key->ends - last->expires;
  const bool has_its_end = longer >= Micros::zero() && longer < unit;
  const bool counted = key->depth == depth || is_look;
  if (key->owner == last->owner.view() && counted && has_its_end) return std::nullopt;
  return fmt::format("the key says '{}', {} deep, {} us longer than the lease; it is '{}', {} deep",
                     key->owner, key->depth, longer.count(), last->owner.view(), depth);
}

}  // namespace holdfast::test
