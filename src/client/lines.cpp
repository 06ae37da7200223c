// SPDX-License-Identifier: Apache-2.0
#include "client/lines.hpp"

namespace holdfast::client {

std::size_t Lines::join(const LockName& name, std::uint64_t place,
                        std::weak_ptr<store::Listening> ear) {
  const std::lock_guard lock(mutex_);
  Line& line = lines_[name.str()];
  line.emplace(place, std::move(ear));
  return line.size();
}

bool Lines::is_first(const LockName& name, std::uint64_t place) const {
  const std::lock_guard lock(mutex_);
  const auto line = lines_.find(name.str());
  return line == lines_.end() || line->second.begin()->first >= place;
}

std::shared_ptr<store::Listening> Lines::leave(const LockName& name, std::uint64_t place) {
  const std::lock_guard lock(mutex_);
  const auto found = lines_.find(name.str());
  if (found == lines_.end()) return nullptr;
  Line& line = found->second;
  const bool was_first = line.begin()->first == place;
  line.erase(place);
  if (line.empty()) {
    lines_.erase(found);
    return nullptr;
  }
  return was_first ? line.begin()->second.lock() : nullptr;
}

}  // namespace holdfast::client
