// SPDX-License-Identifier: Apache-2.0
#include "forrst/client_frames.hpp"

#include "forrst/transport.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

namespace holdfast::forrst {

namespace {

using runtime::LocalClock;

constexpr std::size_t length_bytes = 4;
constexpr std::size_t piece_bytes = std::size_t{16} * 1024;
// How often a server with a full queue of connections is asked again.
constexpr int full_queue_ms = 5;

enum class Woken : std::uint8_t { ready, stopped, late };

std::string reason_of(int error) { return std::generic_category().message(error); }

int milliseconds_until(runtime::LocalTime deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - LocalClock::now());
  return static_cast<int>(
      std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

// Until one of the events, the end of patience, or `most_ms`, which counts as ready.
Woken wait(int fd, short events, const Patience& patience, int most_ms = -1) {
  for (;;) {
    std::array<pollfd, 2> waits{{{.fd = fd, .events = events, .revents = 0},
                                 {.fd = patience.stop_fd, .events = POLLIN, .revents = 0}}};
    const int left = milliseconds_until(patience.deadline);
    const bool is_short = most_ms >= 0 && most_ms < left;
    const int got = ::poll(waits.data(), waits.size(), is_short ? most_ms : left);
    if (got < 0 && errno == EINTR) continue;
    // An answer that is there counts, however late we are.
    if (got > 0 && waits[0].revents != 0) return Woken::ready;
    if (got > 0 && waits[1].revents != 0) return Woken::stopped;
    if (got == 0 && is_short) return Woken::ready;
    if (LocalClock::now() >= patience.deadline) return Woken::late;
  }
}

}  // namespace

StopSignal::StopSignal(std::stop_token stop) {
  if (!stop.stop_possible()) return;
  fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  is_deaf_ = fd_ < 0;
  if (is_deaf_) return;
  on_stop_.emplace(std::move(stop), [fd = fd_] { ::eventfd_write(fd, 1); });
}

StopSignal::~StopSignal() {
  on_stop_.reset();
  if (fd_ >= 0) ::close(fd_);
}

std::string frame_of(std::string_view json) {
  const auto size = static_cast<std::uint32_t>(json.size());
  std::string frame;
  frame.reserve(length_bytes + json.size());
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    frame.push_back(static_cast<char>((size >> shift) & 0xffU));
  }
  return frame.append(json);
}

Result<FrameLink> FrameLink::open(const std::string& path, const Patience& patience) {
  FrameLink made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.fd_ < 0) return fail(Errc::unavailable, "cannot connect: " + reason_of(errno));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(static_cast<char*>(address.sun_path), path.data(), path.size());
  for (;;) {
    const auto* const to = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(made.fd_, to, sizeof(address)) == 0) return made;
    // A Unix socket connects at once or not at all; EAGAIN is a full queue, which poll cannot see.
    if (errno != EAGAIN && errno != EINTR) {
      return fail(Errc::unavailable, "cannot connect: " + reason_of(errno));
    }
    switch (wait(-1, 0, patience, full_queue_ms)) {
      case Woken::ready: break;
      case Woken::stopped: return fail(Errc::cancelled, "cancelled");
      case Woken::late: return fail(Errc::unavailable, "cannot connect: no answer in time");
    }
  }
}

FrameLink::FrameLink(FrameLink&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      in_(std::move(other.in_)),
      is_usable_(other.is_usable_),
      is_writable_(other.is_writable_),
      was_closed_by_peer_(other.was_closed_by_peer_) {}

FrameLink& FrameLink::operator=(FrameLink&& other) noexcept {
  std::swap(fd_, other.fd_);
  in_ = std::move(other.in_);
  is_usable_ = other.is_usable_;
  is_writable_ = other.is_writable_;
  was_closed_by_peer_ = other.was_closed_by_peer_;
  return *this;
}

FrameLink::~FrameLink() {
  if (fd_ >= 0) ::close(fd_);
}

bool FrameLink::is_quiet() const {
  pollfd look{.fd = fd_, .events = POLLIN, .revents = 0};
  return is_usable_ && in_.empty() && ::poll(&look, 1, 0) == 0;
}

Result<std::string> FrameLink::exchange(std::string_view frame, const Patience& patience) {
  // Until it ends well.
  is_usable_ = false;
  auto rest = frame;
  for (;;) {
    const bool is_all_written = rest.empty();
    const auto events =
        static_cast<short>(!is_all_written && is_writable_ ? POLLIN | POLLOUT : POLLIN);
    const auto woken = wait(fd_, events, patience);
    if (woken != Woken::ready) {
      // A server does nothing for a part of a frame.
      const auto unsent = woken == Woken::stopped ? Errc::cancelled : Errc::unavailable;
      return fail(is_all_written ? Errc::outcome_unknown : unsent,
                  woken == Woken::stopped ? "cancelled" : "no answer before the deadline");
    }
    if (auto failed = read_some(is_all_written)) return std::unexpected(std::move(*failed));
    auto answer = take_frame();
    if (!answer) return std::unexpected(std::move(answer.error()));
    if (*answer) {
      // It may answer before it has heard all: then it does not want to.
      is_usable_ = is_all_written && in_.empty();
      return std::move(**answer);
    }
    if (!is_all_written && is_writable_) write_some(rest);
  }
}

void FrameLink::write_some(std::string_view& rest) {
  const auto sent = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) rest.remove_prefix(static_cast<std::size_t>(sent));
  // The server may have said why before it closed: reading tells.
  if (sent < 0 && errno != EAGAIN && errno != EINTR) is_writable_ = false;
}

std::optional<Error> FrameLink::read_some(bool is_all_written) {
  std::array<char, piece_bytes> piece{};
  const auto got = ::recv(fd_, piece.data(), piece.size(), MSG_DONTWAIT);
  if (got > 0) in_.append(piece.data(), static_cast<std::size_t>(got));
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return std::nullopt;
  // The kernel says ECONNRESET if the server closed with bytes of ours that it had not read.
  const bool was_reset = got < 0 && errno == ECONNRESET;
  const bool was_heard = is_all_written && !was_reset;
  was_closed_by_peer_ = in_.empty();
  return Error{was_heard ? Errc::outcome_unknown : Errc::unavailable,
               got < 0 ? "the connection broke: " + reason_of(errno)
                       : std::string("the server closed the connection without an answer")};
}

Result<std::optional<std::string>> FrameLink::take_frame() {
  if (in_.size() < length_bytes) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t at = 0; at < length_bytes; ++at) {
    size = (size << 8U) | static_cast<unsigned char>(in_[at]);
  }
  if (size == 0 || size > max_answer_bytes) {
    return fail(
        Errc::outcome_unknown,
        fmt::format("the answer claims {} bytes; 1 to {} are accepted", size, max_answer_bytes));
  }
  if (in_.size() < length_bytes + size) return std::nullopt;
  std::string frame = in_.substr(length_bytes, size);
  in_.erase(0, length_bytes + size);
  return frame;
}

}  // namespace holdfast::forrst
