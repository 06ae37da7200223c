// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a server, this moves its wall clock: by as many microseconds as the first eight
// bytes of the file $HOLDFAST_CLOCK say, read anew at every call. The monotonic clock stays.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace {

const volatile std::int64_t* find_offset() {
  static const std::int64_t none = 0;
  const char* const path = std::getenv("HOLDFAST_CLOCK");
  const int fd = path ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return &none;
  void* const page = mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  return page == MAP_FAILED ? &none : static_cast<const volatile std::int64_t*>(page);
}

const volatile std::int64_t* offset = nullptr;

timespec stepped() {
  if (offset == nullptr) offset = find_offset();
  timespec time{};
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &time);
  constexpr std::int64_t million = 1'000'000;
  const std::int64_t micros = time.tv_sec * million + time.tv_nsec / 1000 + *offset;
  time.tv_sec = micros / million;
  time.tv_nsec = micros % million * 1000 + time.tv_nsec % 1000;
  return time;
}

}  // namespace

extern "C" int gettimeofday(timeval* out, void*) noexcept {
  const timespec now = stepped();
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

extern "C" int clock_gettime(clockid_t which, timespec* out) noexcept {
  if (which != CLOCK_REALTIME) return static_cast<int>(syscall(SYS_clock_gettime, which, out));
  *out = stepped();
  return 0;
}

extern "C" time_t time(time_t* out) noexcept {
  const time_t now = stepped().tv_sec;
  if (out != nullptr) *out = now;
  return now;
}
