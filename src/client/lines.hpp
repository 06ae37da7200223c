// SPDX-License-Identifier: Apache-2.0
//
// Who of this client stands in line for which lock. Only the first of each line asks every second;
// those behind it need not, since whatever goes wrong in front of them is noticed by the first.
#pragma once

#include "store/store.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace holdfast::client {

class Lines {
 public:
  // Takes or keeps the place, and says how many stand in that line. A repeated call changes
  // nothing.
  std::size_t join(const LockName& name, std::uint64_t place, std::weak_ptr<store::Listening> ear);
  bool is_first(const LockName& name, std::uint64_t place) const;
  // Whoever is first after it, if that is news to it.
  std::shared_ptr<store::Listening> leave(const LockName& name, std::uint64_t place);

 private:
  using Line = std::map<std::uint64_t, std::weak_ptr<store::Listening>>;  // by place

  mutable std::mutex mutex_;
  std::map<std::string, Line, std::less<>> lines_;  // guarded by mutex_
};

}  // namespace holdfast::client
