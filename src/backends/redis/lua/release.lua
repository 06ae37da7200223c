return step(release, sub(ARGV[1], 2, -2), ARGV[3] == '1', tonumber(ARGV[4]))
