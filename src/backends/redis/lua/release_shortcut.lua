-- Only as much of the value as tells whose it is: the metadata may be long.
local held = redis.call('GETRANGE', KEYS[1], 0, ARGV[2])
if held == ARGV[1] and not ARGV[3] then
  redis.call('DEL', KEYS[1])
  return 4
end
if held == '' then return 5 end
