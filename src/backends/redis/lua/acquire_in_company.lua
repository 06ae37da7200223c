-- A mutex in somebody's hands, and one who waits for it or asks again: the step most often made
-- under contention, without what makes it general. It has to say what the step would.
if held and ARGV[3] and string.sub(ARGV[3], 2, 2) == '1'
    and string.sub(ARGV[3], 43, 58) == '0000000000000000'
    and (string.sub(held, 1, 3) == '210' or string.sub(held, 1, 3) == '211') then
  local call, sub = redis.call, string.sub
  local nul = string.find(ARGV[1], '\0', 18, true)
  local id, wanted = sub(ARGV[1], 2, nul - 1), sub(ARGV[1], -49, -38)
  local time = call('TIME')
  local now = time[1] * 1000000 + time[2]
  local queue_expires = tonumber(sub(held, 30, 45))
  local first = call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
  local last = call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')
  local head, expires = tonumber(first[2] or 0), tonumber(last[2] or 0)
  local holder = expires > now and last[1] ~= 'h' .. id and call('HGET', KEYS[2], last[1])
  if holder and sub(holder, -37, -28) == '4294967295' and head ~= -9000000000000000
      and (head >= 0 or queue_expires > now)
      and (sub(wanted, 1, 2) == '10' or sub(wanted, 1, 2) == '11')
      and sub(wanted, 3) == sub(held, 4, 13) then
    local place = call('ZSCORE', KEYS[3], 'w' .. id)
    local joins = not place and sub(ARGV[3], 3, 22) == '00000000000000000000'
      and call('ZCARD', KEYS[3]) <= 16384
    if joins then
      place = call('INCR', KEYS[4])
      if place < now then place = call('INCRBY', KEYS[4], now + 10000 - place) end
      call('HSET', KEYS[2], 'w' .. id, string.format('%016d', now) .. sub(ARGV[3], 23, 42)
        .. '0000000000000000' .. sub(ARGV[1], nul + 1))
      place = place - 9000000000000000
      call('ZADD', KEYS[3], place, 'w' .. id)
    end
    if place then
      local is_old = queue_expires < now + 9000000
      if is_old then queue_expires = now + 10000000 end
      -- The keys of a lock that nobody waited for end with its lease.
      if is_old or head >= 0 then
        local left_ms = math.ceil((math.max(expires, queue_expires) - now) / 1000)
        -- First what a server without memory allows.
        call('PEXPIRE', KEYS[2], left_ms)
        call('PEXPIRE', KEYS[3], left_ms)
        call('SET', KEYS[1], sub(held, 1, 29) .. string.format('%016d', queue_expires), 'PX',
          left_ms)
      end
      return {now, 3, string.format('%016d', place + 9000000000000000),
        call('ZRANK', KEYS[3], 'w' .. id), expires - now, 0}
    end
  end
end
