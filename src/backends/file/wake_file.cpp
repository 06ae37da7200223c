// SPDX-License-Identifier: Apache-2.0
#include "backends/file/wake_file.hpp"

#include "backends/file/file_system.hpp"
#include "backends/file/places.hpp"
#include "runtime/random.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <thread>

namespace holdfast::backends::file {

namespace {

constexpr std::chrono::milliseconds set_up_patience{2000};
constexpr int existing = O_RDWR | O_CLOEXEC | O_NOFOLLOW;

WakeHeader header_of(const Folder& folder, const Surroundings& ours) {
  return {.total_bytes = sizeof(WakeLayout),
          .boot_clock_ns = ours.boot_clock.count(),
          .file_system = folder.file_system()};
}

Result<void> check_version(const Folder& folder, std::uint32_t version, const std::string& name) {
  if (version == wake_version) return {};
  const auto formats = fmt::format("its wake file has format {}, and this version knows {}; ",
                                   version, wake_version);
  if (version > wake_version) {
    return folder.failure(Errc::unavailable, formats + "a newer Holdfast uses the store");
  }
  return folder.failure(
      Errc::unavailable,
      formats + fmt::format("an older Holdfast uses the store. Stop its programs; "
                            "if none is left, remove {}",
                            name));
}

bool is_of_older_version(int fd) {
  WakeHeader header;
  constexpr ssize_t read_bytes = offsetof(WakeHeader, slot_count);
  return pread(fd, &header, read_bytes, 0) == read_bytes && header.magic == wake_magic &&
         header.version < wake_version;
}

// Answers whether no other process has the file open, in whatever container: the kernel then gives
// a lease for writing, and not otherwise. One that only looks at its version is gone in a moment.
// The signal that tells of the next one must not be SIGIO, which would end us.
bool lease_alone(int fd) {
  if (fcntl(fd, F_SETSIG, SIGURG) != 0) return false;
  for (int tried = 0; tried < 20; ++tried) {
    if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0) return true;
    if (errno != EAGAIN) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Removes the wake file of an older version if no process uses it: those would have another lock
// than we. Whoever opens it just now waits for the end of the lease and then reads a version that
// it refuses.
bool retire_if_unused(const Folder& folder, int fd, const std::string& name) {
  if (!lease_alone(fd)) return false;
  const bool retired = unlinkat(folder.fd(), name.c_str(), 0) == 0;
  constexpr off_t version_at = offsetof(WakeHeader, version);
  // Where it cannot be written, the other finds its file deleted when it enters the store.
  if (retired) (void)!pwrite(fd, &wake_version, sizeof wake_version, version_at);
  fcntl(fd, F_SETLEASE, F_UNLCK);
  return retired;
}

// What would make two processes disagree about time, or about who lives.
Result<void> check_surroundings(const Folder& folder, const WakeHeader& found,
                                const Surroundings& ours) {
  if (found.boot_clock_ns != ours.boot_clock.count()) {
    const std::chrono::duration<double> apart =
        ours.boot_clock - std::chrono::nanoseconds(found.boot_clock_ns);
    return folder.failure(
        Errc::unsupported,
        fmt::format("the boot clock of this process is {:+.3f} s from that of the "
                    "process that made the store (a time namespace); all "
                    "processes of a store must have the same",
                    apart.count()));
  }
  if (found.file_system != folder.file_system()) {
    return folder.failure(
        Errc::unsupported,
        fmt::format("this process reaches the folder through {}, and the process that made the "
                    "store through {}; between those no locks are seen",
                    file_system_of(folder.file_system()).name,
                    file_system_of(found.file_system).name));
  }
  return {};
}

// Read, not mapped: a file cut short would kill a process that touches its missing pages.
Result<void> check_header(const Folder& folder, int fd, const Surroundings& ours) {
  struct stat found{};
  WakeHeader header;
  if (fstat(fd, &found) != 0) return folder.failure_of("the wake file cannot be looked at", errno);
  const auto got = pread(fd, &header, sizeof header, 0);
  constexpr ssize_t shortest = offsetof(WakeHeader, slot_count);
  if (got < shortest || header.magic != wake_magic) {
    return folder.failure(Errc::unavailable, "its wake file was not made by Holdfast");
  }
  const auto version = check_version(folder, header.version, wake_name(ours.boot_id));
  if (!version) return version;
  const bool whole = got == sizeof header && header.slot_count == max_waiting_processes &&
                     header.total_bytes == sizeof(WakeLayout) &&
                     found.st_size == static_cast<off_t>(sizeof(WakeLayout));
  if (!whole) return folder.failure(Errc::unavailable, "its wake file is damaged or cut short");
  return check_surroundings(folder, header, ours);
}

}  // namespace

void WakeFile::Unmap::operator()(WakeLayout* layout) const noexcept {
  munmap(layout, sizeof(WakeLayout));
}

Result<WakeFile> WakeFile::open(const Folder& folder, const Surroundings& ours) {
  Descriptor fd(openat(folder.fd(), wake_name(ours.boot_id).c_str(), existing));
  if (!fd && errno != ENOENT) return folder.failure_of("the wake file cannot be opened", errno);
  if (!fd || is_of_older_version(fd.get())) {
    // Closed first: two that find the old file must not take each other for its users.
    fd = Descriptor();
    if (auto locked = folder.lock(set_up_patience); !locked) return std::unexpected(locked.error());
    auto made = open_or_create(folder, ours);
    folder.unlock();
    if (!made) return std::unexpected(std::move(made.error()));
    fd = std::move(*made);
  }
  return map(folder, std::move(fd), ours);
}

Result<Descriptor> WakeFile::open_or_create(const Folder& folder, const Surroundings& ours) {
  const std::string name = wake_name(ours.boot_id);
  Descriptor fd(openat(folder.fd(), name.c_str(), existing));
  const bool is_left_over =
      fd && is_of_older_version(fd.get()) && retire_if_unused(folder, fd.get(), name);
  if (fd && !is_left_over) return fd;
  folder.remove_files_of_other_boots(ours.boot_id);
  if (auto created = create(folder, ours); !created) return std::unexpected(created.error());
  fd = Descriptor(openat(folder.fd(), name.c_str(), existing));
  if (!fd) return folder.failure_of("the wake file cannot be opened", errno);
  return fd;
}

Result<void> WakeFile::create(const Folder& folder, const Surroundings& ours) {
  const std::string name = wake_name(ours.boot_id);
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
  const WakeHeader header = header_of(folder, ours);
  if (pwrite(fd.get(), &header, sizeof header, 0) != sizeof header) {
    return give_up("the wake file cannot be written", errno);
  }
  if (renameat(folder.fd(), unfinished.c_str(), folder.fd(), name.c_str()) != 0) {
    return give_up("the wake file cannot be named", errno);
  }
  return {};
}

Result<WakeFile> WakeFile::map(const Folder& folder, Descriptor fd, const Surroundings& ours) {
  if (auto checked = check_header(folder, fd.get(), ours); !checked) {
    return std::unexpected(checked.error());
  }
  void* memory = mmap(nullptr, sizeof(WakeLayout), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return folder.failure_of("the wake file cannot be mapped", errno);
  Mapping layout(static_cast<WakeLayout*>(memory));
  auto life = Life::begin(fd.get(), *layout, runtime::secure_random());
  if (!life) return folder.failure(life.error().code, life.error().message);
  return WakeFile(std::move(fd), std::move(layout), std::move(*life));
}

bool WakeFile::is_deleted() const {
  struct stat found{};
  return fstat(fd_.get(), &found) != 0 || found.st_nlink == 0;
}

}  // namespace holdfast::backends::file
