// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/live.hpp"

#include "cli/watch/fetcher.hpp"
#include "cli/watch/screen.hpp"
#include "text/url.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

// Bars move by the clock between two looks at the store.
constexpr auto redraw_every = 250ms;
// An arrow key sends its bytes together; a person cannot press two keys so fast.
constexpr auto key_pause = 50ms;

text::WallTime wall_now() { return std::chrono::floor<Micros>(std::chrono::system_clock::now()); }

class Live {
 public:
  Live(View view, Fetcher& fetcher, const Signals& signals)
      : view_(std::move(view)), fetcher_(fetcher), signals_(signals) {}

  int run() {
    while (!code_) {
      draw();
      wait();
    }
    screen_.leave();
    if (deadly_) die_by(*deadly_);
    return *code_;
  }

 private:
  void draw() {
    const auto size = screen_.size();
    if (size != size_) screen_.forget();
    size_ = size;
    keep_in_sight(view_, rows_for_locks(size));
    if (!screen_.show(render(view_, size, wall_now()))) code_ = exit_output_failed;
  }

  void wait() {
    std::array<pollfd, 3> fds{{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                               {.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                               {.fd = fetcher_.fd(), .events = POLLIN, .revents = 0}}};
    const auto patience = keys_.is_undecided() ? key_pause : redraw_every;
    const int ready = poll(fds.data(), fds.size(), static_cast<int>(patience.count()));
    while (const auto signal = signals_.next()) heed(*signal);
    if (code_) return;
    if (auto looked = fetcher_.take()) take_in(std::move(*looked));
    if (ready > 0 && fds[0].revents != 0) {
      read_keys();
    } else if (keys_.is_undecided()) {
      obey(keys_.settle());
    }
  }

  void take_in(Result<Gathered> looked) {
    if (looked) return see(view_, std::move(*looked), wall_now());
    view_.trouble = looked.error().message;
  }

  void read_keys() {
    std::array<char, 256> bytes{};
    const auto got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got > 0) return obey(keys_.feed({bytes.data(), static_cast<std::size_t>(got)}));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    code_ = 0;  // the terminal is gone, and whoever watched with it
  }

  void obey(const std::vector<Key>& keys) {
    for (const auto& key : keys) {
      if (!press(view_, key, rows_for_locks(size_))) code_ = 0;
    }
  }

  void heed(int signal) {
    if (signal == SIGINT) {
      code_ = 0;
    } else if (signal == SIGTSTP) {
      screen_.leave();
      suffer(SIGTSTP, getpid());
      come_back();
    } else if (signal == SIGCONT) {
      // Stopped by somebody who did not ask: the shell has set the terminal as it likes it.
      come_back();
    } else if (Signals::ends_a_wait(signal)) {
      deadly_ = signal;
      code_ = 0;
    }
  }

  // In the background the terminal belongs to others: wait there until it is ours again.
  void come_back() {
    while (true) {
      const auto foreground = tcgetpgrp(STDIN_FILENO);
      if (foreground < 0 || foreground == getpgrp()) break;
      suffer(SIGTTIN, getpid());
      std::this_thread::sleep_for(redraw_every);  // where nobody stops us
    }
    screen_.enter();
  }

  View view_;
  Fetcher& fetcher_;
  const Signals& signals_;
  Screen screen_;
  KeyReader keys_;
  Size size_;
  std::optional<int> code_;
  std::optional<int> deadly_;
};

}  // namespace

Result<int> watch_live(Context& context, const Client& client, const WatchOptions& options,
                       const Signals& signals) {
  const auto settings = context.settings();
  if (!settings) return std::unexpected(settings.error());
  const auto& console = context.console;
  View view;
  view.store = text::masked(settings->store.value);
  view.prefix = options.prefix;
  view.paint = [&console](Style style, std::string_view text) {
    return console.styled(style, text);
  };
  Fetcher fetcher(client, options.prefix, options.every);
  Live live(std::move(view), fetcher, signals);
  return live.run();
}

}  // namespace holdfast::cli
