// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace holdfast::server {

// The vertices that arrows connect in both directions, together: Tarjan's strongly connected
// components, without recursion, since a chain may be long. Only those of two vertices and more.
std::vector<std::vector<std::size_t>> cyclic_components(
    const std::vector<std::vector<std::size_t>>& arrows);

}  // namespace holdfast::server
