// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/fetcher.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace holdfast::cli {

Fetcher::Fetcher(Client client, std::string prefix, Duration every)
    : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  thread_ = std::jthread([this, client = std::move(client), prefix = std::move(prefix),
                          every](std::stop_token stop) { run(stop, client, prefix, every); });
}

Fetcher::~Fetcher() {
  thread_.request_stop();
  thread_.join();
  close(fd_);
}

std::optional<Result<Gathered>> Fetcher::take() {
  eventfd_t ignored = 0;
  (void)eventfd_read(fd_, &ignored);
  const std::lock_guard lock(mutex_);
  return std::exchange(newest_, std::nullopt);
}

void Fetcher::run(std::stop_token stop, const Client& client, const std::string& prefix,
                  Duration every) {
  while (!stop.stop_requested()) {
    const auto next = std::chrono::steady_clock::now() + every;
    auto gathered = gather(client, prefix, stop);
    std::unique_lock lock(mutex_);
    newest_ = std::move(gathered);
    (void)eventfd_write(fd_, 1);
    woken_.wait_until(lock, stop, next, [] { return false; });
  }
}

}  // namespace holdfast::cli
