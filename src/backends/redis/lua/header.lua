local lock, records, order, counter = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local call, sub, format = redis.call, string.sub, string.format

local now
local function tick()
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end
tick()

local function digits(number) return format('%016.0f', number) end

