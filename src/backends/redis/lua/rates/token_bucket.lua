-- What is missing from the bucket, and how many units a token had when that was counted.
local capacity, units, per_us, cost =
  tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local full, wanted = capacity * units, cost * units
local function time_to_drain(level) return floor((level + per_us - 1) / per_us) end

local level = first
if from then
  local units_before = tonumber(sub(value, from))
  if not units_before then return redis.error_reply(NOT_OURS) end
  if units_before ~= units then
    level = math.min(math.ceil(level / units_before * units), 2 ^ 52)
  end
  local elapsed = time - seen
  level = elapsed >= time_to_drain(level) and 0 or level - elapsed * per_us
end
if level + wanted > full then
  retry = time_to_drain(level + wanted - full)
elseif is_check then
  level = level + wanted
end
count = floor((level + units - 1) / units)
reset = time_to_drain(level)
first, rest = level, units
