-- Where the window began, and what came since.
local limit, window, cost = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local begin = time - math.fmod(time, window)
local came = from and tonumber(sub(value, from))
if from and not came then return redis.error_reply(NOT_OURS) end
if first == begin then count = came or 0 end
local left = begin + window - time
if count + cost > limit then
  retry = left
elseif is_check then
  count = count + cost
end
if count > 0 then reset = left end
first, rest = begin, count
