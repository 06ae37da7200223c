-- Looking changes nothing. The records go out as they are.
local value = call('GET', lock) or ''
local company = sub(value, 1, 1) == '2'
local reply = {
  now, value, call('PTTL', lock),
  company and call('ZRANGE', order, 0, -1, 'WITHSCORES') or {},
  company and call('HGETALL', records) or {},
}
if theirs then
  local held = theirs()
  local known = company and holders(0, '+inf', 'LIMIT', 0, 1)[1] or ''
  if held and held.leaving then held = nil end
  -- An owner of ours is any text, and is told as it is.
  local is_known = held and known ~= '' and held.owner == sub(known, 18)
  reply[6] = held and (is_known and held.owner or as_owner(held.owner)) or ''
  reply[7] = held and held.left or 0
  reply[8] = SPEC
  reply[9] = ROUNDING_US
  reply[10] = held and held.words or ''
  reply[11] = held and held.since and digits(held.since) or ''
  if is_known and held.is_anyones and not is_strangers(known) then
    local last = call('ZRANGE', order, -1, -1, 'WITHSCORES')[2]
    reply[7] = math.max(0, math.ceil((tonumber(last) - now) / 1000))
  end
end
return reply
