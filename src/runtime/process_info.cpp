// SPDX-License-Identifier: Apache-2.0
#include "runtime/process_info.hpp"

#include <unistd.h>

#include <cerrno>
#include <climits>

namespace holdfast::runtime {

std::shared_ptr<const ProcessInfo> this_process() {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof(host) - 1);
  return std::make_shared<const ProcessInfo>(
      ProcessInfo{.host = host, .program = program_invocation_short_name, .pid = getpid()});
}

}  // namespace holdfast::runtime
