-- Even where nobody holds it. Only if it must: a server that is out of memory would not allow it.
if ARGV[4] and tonumber(call('GET', counter) or 0) < tonumber(ARGV[4]) then
  call('SET', counter, ARGV[4])
end
return step(renew, sub(ARGV[1], 2, -2), tonumber(ARGV[3]), tonumber(ARGV[4]))
