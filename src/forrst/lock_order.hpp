// SPDX-License-Identifier: Apache-2.0
//
// What somebody asks of a lock: the options of the atomic-lock extension, and the arguments of its
// functions.
#pragma once

#include <holdfast/forrst/fault.hpp>
#include <holdfast/names.hpp>
#include <holdfast/options.hpp>

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::forrst {

struct LockOrder {
  std::string key;
  bool is_global = false;
  std::string full_key;  // "lock:payments.charge:user:123"
  Duration ttl{};
  std::optional<Duration> block{};
  boost::json::object block_text{};  // as it was written, for `waited`
  std::string owner{};               // empty: make one
  bool auto_release = true;

  std::string_view scope() const { return is_global ? "global" : "function"; }
  // What an error about this lock has in its details.
  boost::json::object details() const;
};

// Everything that is wrong goes behind `faults`, with pointers below `place`; then nothing is
// returned.
std::optional<LockOrder> parse_lock(const boost::json::object& options, std::string_view place,
                                    std::string_view function, std::string_view prefix,
                                    std::vector<Fault>& faults);

// A key with its prefix, as release, status and their like are given it: ours, or `forrst_lock:`,
// which means the same lock.
struct FullKey {
  std::string text;  // as it was written
  LockName name;
};
std::optional<FullKey> parse_full_key(const boost::json::object& arguments, std::string_view prefix,
                                      std::vector<Fault>& faults);
// A text that is there and not empty.
std::optional<OwnerId> parse_owner(const boost::json::object& arguments,
                                   std::vector<Fault>& faults);
// Of a lease that is meant; nothing if it is not given, which is no fault.
std::optional<Fence> parse_fence(const boost::json::object& arguments, std::vector<Fault>& faults);
std::optional<Duration> parse_ttl(const boost::json::object& options, std::string_view place,
                                  std::vector<Fault>& faults);

}  // namespace holdfast::forrst
