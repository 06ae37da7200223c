return step(renew, sub(ARGV[1], 2, -2), tonumber(ARGV[3]))
