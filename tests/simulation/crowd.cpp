// SPDX-License-Identifier: Apache-2.0
#include "simulation/crowd.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace holdfast::simulation {

namespace {

constexpr std::uint64_t seeds_at_a_time = 5'000;

// A child takes every `jobs`-th portion and reports each of them.
[[noreturn]] void work(int out, std::uint64_t first, std::uint64_t count, unsigned job,
                       unsigned jobs, RunSeed run) {
  for (std::uint64_t at = job * seeds_at_a_time; at < count; at += jobs * seeds_at_a_time) {
    const Summary sum = run_seeds(first + at, std::min(seeds_at_a_time, count - at), Stop::never,
                                  Report::bad_seeds, run);
    if (write(out, &sum, sizeof sum) != sizeof sum) std::_Exit(2);
  }
  std::_Exit(0);
}

}  // namespace

Summary run_seeds_in_parallel(std::uint64_t first, std::uint64_t count, unsigned jobs,
                              RunSeed run) {
  int ends[2];
  if ((jobs <= 1 && count <= seeds_at_a_time) || pipe(ends) != 0) {
    return run_seeds(first, count, Stop::never, Report::bad_seeds, run);
  }
  for (unsigned job = 0; job < jobs; ++job) {
    if (const pid_t child = fork(); child == 0) {
      close(ends[0]);
      work(ends[1], first, count, job, jobs, run);
    } else if (child < 0) {
      std::perror("fork");
      std::exit(71);
    }
  }
  close(ends[1]);
  Summary sum;
  Summary part;
  std::uint64_t next_report = count / 20;
  while (read(ends[0], &part, sizeof part) == sizeof part) {
    sum += part;
    if (sum.seeds < next_report) continue;
    std::fprintf(stderr, "%llu of %llu seeds, %llu violations\n",
                 static_cast<unsigned long long>(sum.seeds), static_cast<unsigned long long>(count),
                 static_cast<unsigned long long>(sum.violations));
    next_report += std::max<std::uint64_t>(count / 20, 1);
  }
  close(ends[0]);
  int status = 0;
  while (wait(&status) > 0) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++sum.crashed;
  }
  return sum;
}

}  // namespace holdfast::simulation
