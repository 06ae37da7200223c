local fence = tonumber(ARGV[4])
local is_free = fence and tonumber(call('GET', counter) or 0) < fence
-- Even where nobody holds it. Only if it must: a server that is out of memory would not allow it.
if is_free then call('SET', counter, ARGV[4]) end
local is_taken = ARGV[5] and not is_free
return step(renew, sub(ARGV[1], 2, -2), tonumber(ARGV[3]), fence, is_taken)
