-- How many hits count, and when they came: 16 digits for the time and 10 for how many came then,
-- the oldest first. A fixed width lets the old ones be cut off without reading the others.
local limit, window, cost = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local WIDTH, SLICES = 26, 60
local function at(place) return tonumber(sub(value, place, place + 15)) end
local function hits_at(place) return tonumber(sub(value, place + 16, place + 25)) end

-- Their places in the value.
local oldest, newest = from or 1, from and #value - WIDTH + 1 or 0
if from and (#value - from + 1) % WIDTH ~= 0 then return redis.error_reply(NOT_OURS) end
count = first
while oldest <= newest and at(oldest) + window <= time do
  count = count - hits_at(oldest)
  oldest = oldest + WIDTH
end
if oldest <= newest then reset = at(newest) + window - time end

if count + cost > limit then
  local staying, place = count, oldest
  repeat
    staying = staying - hits_at(place)
    retry = at(place) + window - time
    place = place + WIDTH
  until staying + cost <= limit
elseif is_check then
  local slice = limit > SLICES and floor(window / SLICES) or 1
  local came = cost
  if oldest <= newest and floor(at(newest) / slice) == floor(time / slice) then
    came = came + hits_at(newest)
    newest = newest - WIDTH
  end
  last = format('%016.0f%010.0f', time, came)
  count, reset = count + cost, window
end
first = count
if from then rest = sub(value, oldest, newest + WIDTH - 1) end
