local held = redis.call('GET', KEYS[1])
if not held then return 5 end
if string.find(held, ARGV[1], 1, true) == 1 and not ARGV[2] then
  redis.call('DEL', KEYS[1])
  return 4
end
