// SPDX-License-Identifier: Apache-2.0
//
// Which holders of a lock came, stayed and went between two looks.
#pragma once

#include <holdfast/view.hpp>

#include <utility>
#include <vector>

namespace holdfast::server {

// Points into the views given. Re-entries share a fence and count as one holder: the one whose
// lease ends last, since the lock is free only then.
struct HolderChanges {
  std::vector<const HolderView*> gone;
  std::vector<const HolderView*> came;
  std::vector<std::pair<const HolderView*, const HolderView*>> stayed;  // before, after
};

HolderChanges match_holders(const std::vector<HolderView>& before,
                            const std::vector<HolderView>& after);

}  // namespace holdfast::server
