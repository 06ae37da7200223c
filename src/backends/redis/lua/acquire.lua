-- Changes nothing, and fails if the server is out of memory: then nothing may be taken apart below.
redis.call('SETRANGE', KEYS[4], 0, '')
local options = ARGV[3] or '00' .. string.rep('0', 76)
local nul = string.find(ARGV[1], '\0', 18, true)
local body = sub(ARGV[1], nul + 1)
local id = sub(ARGV[1], 2, nul - 1)
local converts = sub(options, 43, 58)
wanted_spec = sub(body, -49, -38)
return step(acquire, {
  id = id,
  owner = sub(id, 17),
  body = body,
  spec = wanted_spec,
  permits = permits_of(body),
  ttl = ttl_of(body),
  waits = sub(options, 2, 2) == '1',
  place = tonumber(sub(options, 3, 22)),
  claim = tonumber(sub(options, 23, 42)),
  converts = converts,
  converted = converts .. sub(id, 17),
  known = tonumber(sub(options, 59, 78)),
})
