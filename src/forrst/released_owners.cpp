// SPDX-License-Identifier: Apache-2.0
#include "forrst/released_owners.hpp"

#include <functional>

namespace holdfast::forrst {

namespace {

// Each call under a lock comes here. Two pairs with the same number would only be mistaken for each
// other in the words of an error.
std::uint64_t key_of(std::string_view name, std::string_view owner) {
  const std::hash<std::string_view> hash;
  return hash(name) * 0x9e3779b97f4a7c15U ^ hash(owner);
}

}  // namespace

void ReleasedOwners::remember(std::string_view name, std::string_view owner,
                              runtime::LocalTime now) {
  const Entry entry{key_of(name, owner), now + time_};
  const std::lock_guard lock(mutex_);
  by_key_[entry.key] = entry.until;
  in_order_.push_back(entry);
  while (!in_order_.empty() && (in_order_.size() > most_ || in_order_.front().until <= now)) {
    // Unless it was remembered once more since.
    const auto found = by_key_.find(in_order_.front().key);
    if (found != by_key_.end() && found->second == in_order_.front().until) by_key_.erase(found);
    in_order_.pop_front();
  }
}

void ReleasedOwners::forget(std::string_view name, std::string_view owner) {
  const auto key = key_of(name, owner);
  const std::lock_guard lock(mutex_);
  by_key_.erase(key);
}

bool ReleasedOwners::has(std::string_view name, std::string_view owner,
                         runtime::LocalTime now) const {
  const auto key = key_of(name, owner);
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  return found != by_key_.end() && found->second > now;
}

}  // namespace holdfast::forrst
