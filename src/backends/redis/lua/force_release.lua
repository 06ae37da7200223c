return step(force_release, tonumber(ARGV[1]), ARGV[2])
