// SPDX-License-Identifier: Apache-2.0
#include "forrst/client_frames.hpp"
#include "forrst/transport.hpp"
#include "runtime/fork.hpp"
#include "text/quote.hpp"

#include <fmt/format.h>
#include <sys/un.h>

#include <limits>
#include <mutex>
#include <vector>

namespace holdfast::forrst {

namespace {

constexpr std::size_t max_idle = 8;
constexpr std::size_t max_path_bytes = sizeof(sockaddr_un::sun_path) - 1;

class SocketTransport final : public Transport {
 public:
  explicit SocketTransport(std::string path) : path_(std::move(path)) {}

  Result<Answer> send(std::string_view request, runtime::LocalTime deadline,
                      std::stop_token stop) override;
  std::string describe() const override { return "unix:" + path_; }

 private:
  std::optional<FrameLink> take_idle();
  void put_back(FrameLink connection);
  Result<std::string> exchange(std::string_view frame, const Patience& patience);

  const std::string path_;
  const std::uint32_t generation_ = runtime::fork_generation();
  std::mutex mutex_;
  std::vector<FrameLink> idle_;  // guarded by mutex_; the one used last at the end
};

Result<Answer> SocketTransport::send(std::string_view request, runtime::LocalTime deadline,
                                     std::stop_token stop) {
  // The child's copies are the parent's connections, and the mutex may be locked for ever.
  if (generation_ != runtime::fork_generation()) {
    return fail(Errc::unavailable,
                describe() + " was opened before fork(): open it again in the child");
  }
  if (request.empty() || request.size() > std::numeric_limits<std::uint32_t>::max()) {
    return fail(Errc::bad_input, "request: must have from 1 byte to 4 GiB to be a frame");
  }
  if (stop.stop_requested()) return fail(Errc::cancelled, describe() + ": cancelled");
  const StopSignal signal(std::move(stop));
  if (signal.is_deaf()) return fail(Errc::unavailable, describe() + ": too few descriptors");
  auto answer = exchange(frame_of(request), {.deadline = deadline, .stop_fd = signal.fd()});
  if (answer) return Answer{.body = std::move(*answer)};
  return fail(answer.error().code, fmt::format("{}: {}", describe(), answer.error().message));
}

Result<std::string> SocketTransport::exchange(std::string_view frame, const Patience& patience) {
  for (auto kept = take_idle(); kept; kept = take_idle()) {
    auto answer = kept->exchange(frame, patience);
    // The server closed what it took for idle, just when we wanted to use it.
    const bool was_dead =
        !answer && answer.error().code == Errc::unavailable && kept->was_closed_by_peer();
    if (was_dead) continue;
    put_back(std::move(*kept));
    return answer;
  }
  auto fresh = FrameLink::open(path_, patience);
  if (!fresh) return std::unexpected(std::move(fresh.error()));
  auto answer = fresh->exchange(frame, patience);
  put_back(std::move(*fresh));
  return answer;
}

std::optional<FrameLink> SocketTransport::take_idle() {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    FrameLink last = std::move(idle_.back());
    idle_.pop_back();
    if (last.is_quiet()) return last;
  }
  return std::nullopt;
}

void SocketTransport::put_back(FrameLink connection) {
  if (!connection.is_usable()) return;
  const std::lock_guard lock(mutex_);
  if (idle_.size() < max_idle) idle_.push_back(std::move(connection));
}

}  // namespace

Result<std::shared_ptr<Transport>> open_socket(std::string_view path) {
  const bool is_good = path.starts_with('/') && path.size() <= max_path_bytes &&
                       path.find('\0') == std::string_view::npos;
  if (!is_good) {
    return fail(Errc::bad_input,
                fmt::format("url: unix: must be followed by an absolute path of at most {} bytes, "
                            "and not by {}",
                            max_path_bytes, text::quoted(path)));
  }
  return std::make_shared<SocketTransport>(std::string(path));
}

}  // namespace holdfast::forrst
