// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/core.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::server::patterns {

// The independent stores among which the pattern redlock votes.
class Members {
 public:
  using Cores = std::vector<std::shared_ptr<client::Core>>;

  // `stores` is one URL with several hosts, or a list of URLs, with commas between them; empty:
  // five stores in this process, which show how it works and survive nothing. A member that cannot
  // be reached is tried again in the background. Errors: bad_input for a list that is too short or
  // a URL that no store understands.
  static Result<std::unique_ptr<Members>> open(std::string_view stores);

  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  bool is_demo() const { return is_demo_; }
  std::size_t size() const { return urls_.size(); }
  // One for each member, null for those that could not be reached so far.
  Cores cores() const;

 private:
  Members(std::vector<std::string> urls, bool is_demo);
  // Of those that are missing. Errors as open(), but not for what cannot be reached.
  Result<void> open_missing();
  bool is_complete() const;
  void keep_trying(const std::stop_token& stop);

  const std::vector<std::string> urls_;
  const bool is_demo_;
  mutable std::mutex mutex_;
  Cores cores_;          // guarded by mutex_
  std::jthread opener_;  // last, so that it ends first
};

inline constexpr std::size_t min_members = 3;
inline constexpr std::size_t max_members = 15;

// A comma parts two URLs where a scheme follows it, and else two hosts of one URL.
std::vector<std::string> split_members(std::string_view stores);

}  // namespace holdfast::server::patterns
