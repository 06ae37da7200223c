// SPDX-License-Identifier: Apache-2.0
//
// What `watch` knows and shows, and how keys change it. No terminal and no store: those are in
// screen and fetcher.
#pragma once

#include "cli/console.hpp"
#include "cli/look/gather.hpp"
#include "cli/watch/keys.hpp"
#include "text/json.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace holdfast::cli {

using Paint = std::function<std::string(Style, std::string_view)>;

struct View {
  std::string store;   // its URL without secrets
  std::string prefix;  // of the names that are asked for
  Paint paint = [](Style, std::string_view text) { return std::string(text); };

  std::vector<LockView> locks;  // as they were at `seen_at`, the oldest first
  bool is_complete = true;      // false: there are more
  text::WallTime seen_at{};     // zero: never
  std::string trouble;          // why the last look failed; empty if it did not

  std::string filter;      // only names that begin with it are shown
  bool is_typing = false;  // the filter is being typed
  std::size_t top = 0;     // the first lock that is shown

  // How long a lease is as a whole, which no store tells: the most that was ever seen of it.
  std::map<Fence, Micros> lengths;
};

// A new look at the store.
void see(View& view, Gathered gathered, text::WallTime now);

// The locks that pass the filter.
std::vector<const LockView*> shown(const View& view);

// The whole length of the lease, as far as it is known.
Micros length_of(const View& view, const HolderView& holder);

// What a key does, with `rows` locks on the screen. False: it ends the program.
bool press(View& view, const Key& key, std::size_t rows);

// Moves `top` so that the screen is filled where it can be.
void keep_in_sight(View& view, std::size_t rows);

}  // namespace holdfast::cli
