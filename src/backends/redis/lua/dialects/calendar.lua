-- Times as programs write them: ISO 8601.

-- "2026-11-16T03:45:12" in UTC, of microseconds since 1970. A fraction and the zone follow it.
local function iso(us)
  local seconds = math.floor(us / 1000000)
  local days, rest = math.floor(seconds / 86400), seconds % 86400
  local z = days + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524)
    - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return format('%04d-%02d-%02dT%02d:%02d:%02d', year, month,
    doy - math.floor((153 * mp + 2) / 5) + 1, math.floor(rest / 3600), math.floor(rest / 60) % 60,
    rest % 60)
end

-- Minutes east of UTC: "Z", "+01:00" or "-0530".
local function minutes_of(zone)
  if zone == 'Z' then return 0 end
  local sign, hours, minutes = string.match(zone, '^([+-])(%d%d):?(%d%d)$')
  if not sign then return nil end
  return (sign == '-' and -1 or 1) * (tonumber(hours) * 60 + tonumber(minutes))
end

-- Such a text in microseconds since 1970, or nothing.
local function time_of(word)
  if type(word) ~= 'string' then return nil end
  local year, month, day, hour, minute, second, part, zone =
    string.match(word, '^(%d%d%d%d)%-(%d%d)%-(%d%d)T(%d%d):(%d%d):(%d%d)%.?(%d*)(.+)$')
  local east = year and minutes_of(zone)
  if not east then return nil end
  local y = tonumber(year) - (tonumber(month) <= 2 and 1 or 0)
  local era = math.floor(y / 400)
  local yoe = y - era * 400
  local mp = (tonumber(month) + 9) % 12
  local doe = yoe * 365 + math.floor(yoe / 4) - math.floor(yoe / 100)
    + math.floor((153 * mp + 2) / 5) + tonumber(day) - 1
  local days = era * 146097 + doe - 719468
  local us = ((days * 24 + tonumber(hour)) * 60 + tonumber(minute) - east) * 60000000
    + tonumber(second) * 1000000 + tonumber(sub(part .. '000000', 1, 6))
  return us >= 0 and us or nil
end
