// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/core.hpp"
#include "runtime/event.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace holdfast::server {

// Whether the store answers, and how fast. However many ask, the store is asked at most every 100
// ms, by one of them; the others are told the same.
class StoreProbe {
 public:
  // How long the answer took, or why there was none.
  using Health = Result<Micros>;

  explicit StoreProbe(std::shared_ptr<client::Core> core) : core_(std::move(core)) {}
  StoreProbe(const StoreProbe&) = delete;
  StoreProbe& operator=(const StoreProbe&) = delete;

  // Within about half a second.
  Task<Health> look();

 private:
  using Alarm = std::shared_ptr<runtime::Event>;
  Task<Health> ask();
  Task<Health> wait_for_another(Alarm alarm);
  void tell(const Health& health);

  const std::shared_ptr<client::Core> core_;
  std::mutex mutex_;
  std::optional<Health> newest_;   // guarded by mutex_
  runtime::LocalTime asked_at_{};  // guarded by mutex_
  bool is_asking_ = false;         // guarded by mutex_
  std::vector<Alarm> waiting_;     // guarded by mutex_
};

}  // namespace holdfast::server
