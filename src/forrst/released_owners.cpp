// SPDX-License-Identifier: Apache-2.0
#include "forrst/released_owners.hpp"

#include "model/party.hpp"

#include <string>

namespace holdfast::forrst {

namespace {

// No name has a zero byte, so that no two pairs are written alike.
std::uint64_t key_of(std::string_view name, std::string_view owner) {
  return model::party_of(std::string(name) + '\0' + std::string(owner));
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
