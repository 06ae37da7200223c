-- Looking changes nothing. The records go out as they are.
local value = call('GET', lock) or ''
local company = sub(value, 1, 1) == '2'
local reply = {
  now, value, call('PTTL', lock),
  company and call('ZRANGE', order, 0, -1, 'WITHSCORES') or {},
  company and call('HGETALL', records) or {},
}
local held = theirs and theirs()
if theirs then
  reply[6] = held and as_owner(held.owner) or ''
  reply[7] = held and held.left or 0
end
return reply
