// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <memory>
#include <string_view>

namespace holdfast {

namespace client {
class Core;
}

// What open() wraps into a Client, for the server, which speaks to the store itself.
Result<std::shared_ptr<client::Core>> open_core(std::string_view url);

}  // namespace holdfast
