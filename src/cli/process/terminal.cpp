// SPDX-License-Identifier: Apache-2.0
#include "cli/process/terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace holdfast::cli {

Terminal::Terminal() : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NONBLOCK)) {
  if (fd_ < 0) return;
  termios modes{};
  if (tcgetattr(fd_, &modes) == 0) modes_ = modes;
}

Terminal::~Terminal() {
  if (fd_ >= 0) close(fd_);
}

bool Terminal::is_ours() const { return is_of(getpgrp()); }
bool Terminal::is_of(pid_t group) const { return exists() && tcgetpgrp(fd_) == group; }

void Terminal::give_to(pid_t group) {
  if (exists()) tcsetpgrp(fd_, group);
}

void Terminal::take_back_from(pid_t group) {
  if (!is_of(group)) return;
  tcsetpgrp(fd_, getpgrp());
  if (modes_) tcsetattr(fd_, TCSADRAIN, &*modes_);
}

}  // namespace holdfast::cli
