// SPDX-License-Identifier: Apache-2.0
#include "history/notes.hpp"

namespace holdfast::history {

void Notes::start(const History& of, std::size_t most) {
  history = &of;
  ops.assign(of.attempts.size() + 1, {});
  names.assign(of.names.size() + 1, {});
  processes.assign(1, {});
  stops.clear();
  troubles.clear();
  uses.clear();
  fences.start(2 * of.attempts.size());
  in_store.start(of.attempts.size());
  calm = none;
  ended = 0;
  has_renewals = false;
  set_back = 0;
  data_lost = -1;
  stepped = -1;
  was_set_back = false;
  found.clear();
  kept = {};
  count = 0;
  limit = most;
}

}  // namespace holdfast::history
