// SPDX-License-Identifier: Apache-2.0
#include "runtime/process_info.hpp"

#include "runtime/fork.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::runtime {

namespace {

std::int64_t clock_ms(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// What /proc/self/stat says behind the program's name, which may contain anything.
std::optional<std::int64_t> ticks_from_boot_to_start(std::string_view stat) {
  constexpr int fields_before = 20;  // the first of them is the state, field 3 of proc(5)
  auto at = stat.rfind(')');
  for (int field = 0; field < fields_before && at != std::string_view::npos; ++field) {
    at = stat.find(' ', at + 1);
  }
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t ticks = 0;
  const auto [end, failed] =
      std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), ticks);
  if (failed != std::errc{}) return std::nullopt;
  return ticks;
}

std::int64_t find_start_ms() {
  std::ifstream file("/proc/self/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const auto ticks = ticks_from_boot_to_start(stat);
  const auto ticks_per_second = sysconf(_SC_CLK_TCK);
  if (!ticks || ticks_per_second <= 0) return 0;
  const auto booted_ms = clock_ms(CLOCK_REALTIME) - clock_ms(CLOCK_BOOTTIME);
  return booted_ms + *ticks * 1000 / ticks_per_second;
}

// Found once: a wall clock that is set would move it.
std::int64_t start_ms() {
  struct Start {
    std::int64_t ms = find_start_ms();
  };
  static PerProcess<Start> start;
  return start.get().ms;
}

}  // namespace

std::shared_ptr<const ProcessInfo> this_process() {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof(host) - 1);
  return std::make_shared<const ProcessInfo>(ProcessInfo{.host = host,
                                                         .program = program_invocation_short_name,
                                                         .pid = getpid(),
                                                         .started_ms = start_ms()});
}

}  // namespace holdfast::runtime
