// SPDX-License-Identifier: Apache-2.0
#include "backends/file/life.hpp"

#include "backends/file/slots.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace holdfast::backends::file {

namespace {

struct flock byte_lock(short type, std::uint32_t index) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(index);
  lock.l_len = 1;
  return lock;
}

// 0, or the error.
int set_byte(int fd, short type, std::uint32_t index) {
  struct flock lock = byte_lock(type, index);
  return fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

// Whether another open file than that of `fd` has locked the byte. When in doubt, yes.
bool is_byte_locked(int fd, std::uint32_t index) {
  struct flock lock = byte_lock(F_WRLCK, index);
  return fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

std::string problem(std::string_view done, int error) {
  return fmt::format("the wake file cannot be {}: {}", done,
                     std::generic_category().message(error));
}

}  // namespace

// Never destroyed: a client in a static object may outlive it. fork() waits until nobody changes
// the list.
struct UninheritedFile::All {
  std::mutex mutex;
  std::vector<UninheritedFile*> files;  // guarded by mutex

  All() {
    pthread_atfork([] { all().mutex.lock(); }, [] { all().mutex.unlock(); },
                   [] {
                     for (UninheritedFile* file : all().files) {
                       if (file->fd_ >= 0) close(std::exchange(file->fd_, -1));
                     }
                     all().mutex.unlock();
                   });
  }
};

UninheritedFile::All& UninheritedFile::all() {
  static All& files = *new All;
  return files;
}

std::expected<std::unique_ptr<UninheritedFile>, int> UninheritedFile::reopen(int fd) {
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  std::unique_ptr<UninheritedFile> file(new UninheritedFile);
  int failed = 0;
  {
    All& known = all();
    const std::lock_guard lock(known.mutex);
    known.files.push_back(file.get());
    file->fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file->fd_ < 0) failed = errno;
  }
  if (failed != 0) return std::unexpected(failed);
  return file;
}

UninheritedFile::~UninheritedFile() {
  All& known = all();
  const std::lock_guard lock(known.mutex);
  std::erase(known.files, this);
  if (fd_ >= 0) close(fd_);
}

Result<Life> Life::begin(int fd, WakeLayout& wake, std::uint64_t random) {
  auto file = UninheritedFile::reopen(fd);
  if (!file) return fail(Errc::unavailable, problem("opened", file.error()));
  for (std::uint32_t tried = 0; tried < max_open_processes; ++tried) {
    // Not the lowest: those are the ones that are taken.
    const auto index = wake.next_index.fetch_add(1, std::memory_order_relaxed) % max_open_processes;
    const int failed = set_byte((*file)->get(), F_WRLCK, index);
    if (failed == EAGAIN || failed == EACCES) continue;
    if (failed != 0) return fail(Errc::unavailable, problem("locked", failed));
    wake.writer.word.declare_dead(index);
    free_slots_of(wake, index);
    return Life(std::move(*file), ProcessNumber::make(index, random));
  }
  return fail(Errc::limit_reached,
              fmt::format("max_open_processes: {} processes that have the store open are the limit",
                          max_open_processes));
}

bool Life::is_alive(ProcessNumber number) const {
  return number == number_ || is_byte_locked(file_->get(), number.index());
}

// The byte is kept while the word is taken, so that no new process can get the dead one's index,
// and perhaps its number, in between.
bool Life::take_over(LockWord& word, ProcessNumber holder) const {
  if (holder == nobody || holder == dead_holder) return word.take_from(holder, number_);
  // This process lives, and nobody else has its index.
  if (holder.index() == number_.index()) return false;
  const std::lock_guard lock(*taking_over_);
  if (set_byte(file_->get(), F_WRLCK, holder.index()) != 0) return false;
  const bool taken = word.take_from(holder, number_);
  set_byte(file_->get(), F_UNLCK, holder.index());
  return taken;
}

bool Life::is_proven(int fd) const { return is_byte_locked(fd, number_.index()); }

}  // namespace holdfast::backends::file
