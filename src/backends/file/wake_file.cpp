// SPDX-License-Identifier: Apache-2.0
#include "backends/file/wake_file.hpp"

#include "backends/file/places.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <new>

namespace holdfast::backends::file {

namespace {

constexpr std::chrono::milliseconds set_up_patience{2000};
constexpr int existing = O_RDWR | O_CLOEXEC | O_NOFOLLOW;

void* map_shared(int fd) {
  return mmap(nullptr, sizeof(WakeLayout), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

void init_robust(pthread_mutex_t& mutex) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &kind);
  pthread_mutexattr_destroy(&kind);
}

void init_layout(void* memory) {
  auto* layout = new (memory) WakeLayout{};
  layout->header.total_bytes = sizeof(WakeLayout);
  init_robust(layout->writer.mutex);
  for (Slot& slot : layout->slots) init_robust(slot.alive);
}

// Read, not mapped: a file cut short would kill a process that touches its missing pages.
Result<void> check_header(const Folder& folder, int fd) {
  struct stat found{};
  WakeHeader header;
  if (fstat(fd, &found) != 0) return folder.failure_of("the wake file cannot be looked at", errno);
  const auto got = pread(fd, &header, sizeof header, 0);
  if (got != sizeof header || header.magic != wake_magic) {
    return folder.failure(Errc::unavailable, "its wake file was not made by Holdfast");
  }
  if (header.version > wake_version) {
    return folder.failure(Errc::unavailable,
                          fmt::format("its wake file has format {}, and this version knows {}; a "
                                      "newer Holdfast uses the store",
                                      header.version, wake_version));
  }
  const bool whole = header.version == wake_version && header.slot_count == max_waiting_processes &&
                     header.total_bytes == sizeof(WakeLayout) &&
                     found.st_size == static_cast<off_t>(sizeof(WakeLayout));
  if (whole) return {};
  return folder.failure(Errc::unavailable, "its wake file is damaged or cut short");
}

}  // namespace

void WakeFile::Unmap::operator()(WakeLayout* layout) const noexcept {
  munmap(layout, sizeof(WakeLayout));
}

Result<WakeFile> WakeFile::open(const Folder& folder, const std::string& boot_id) {
  const std::string name = wake_name(boot_id);
  Descriptor fd(openat(folder.fd(), name.c_str(), existing));
  if (fd) return map(folder, std::move(fd));
  if (errno != ENOENT) return folder.failure_of("the wake file cannot be opened", errno);
  if (auto locked = folder.lock(set_up_patience); !locked) return std::unexpected(locked.error());
  fd = Descriptor(openat(folder.fd(), name.c_str(), existing));
  if (!fd) {
    folder.remove_files_of_other_boots(boot_id);
    if (auto created = create(folder, name); !created) {
      folder.unlock();
      return std::unexpected(created.error());
    }
    fd = Descriptor(openat(folder.fd(), name.c_str(), existing));
  }
  folder.unlock();
  if (!fd) return folder.failure_of("the wake file cannot be opened", errno);
  return map(folder, std::move(fd));
}

Result<void> WakeFile::create(const Folder& folder, const std::string& name) {
  const std::string unfinished = temporary_name(name);
  const auto give_up = [&](std::string_view call, int error) {
    unlinkat(folder.fd(), unfinished.c_str(), 0);
    return folder.failure_of(call, error);
  };
  const Descriptor fd(openat(folder.fd(), unfinished.c_str(), existing | O_CREAT | O_TRUNC, 0600));
  if (!fd) return folder.failure_of("the wake file cannot be made", errno);
  // Space for all of it now: a full disk must be an error here, not a signal later.
  if (const int full = Folder::allocate(fd.get(), sizeof(WakeLayout)); full != 0) {
    return give_up("the wake file cannot be made", full);
  }
  void* memory = map_shared(fd.get());
  if (memory == MAP_FAILED) return give_up("the wake file cannot be mapped", errno);
  init_layout(memory);
  munmap(memory, sizeof(WakeLayout));
  if (renameat(folder.fd(), unfinished.c_str(), folder.fd(), name.c_str()) != 0) {
    return give_up("the wake file cannot be named", errno);
  }
  return {};
}

Result<WakeFile> WakeFile::map(const Folder& folder, Descriptor fd) {
  if (auto checked = check_header(folder, fd.get()); !checked) {
    return std::unexpected(checked.error());
  }
  void* memory = map_shared(fd.get());
  if (memory == MAP_FAILED) return folder.failure_of("the wake file cannot be mapped", errno);
  return WakeFile(std::move(fd), static_cast<WakeLayout*>(memory));
}

bool WakeFile::is_deleted() const {
  struct stat found{};
  return fstat(fd_.get(), &found) != 0 || found.st_nlink == 0;
}

}  // namespace holdfast::backends::file
