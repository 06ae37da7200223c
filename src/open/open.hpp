// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

namespace client {
class Core;
}

// What open() wraps into a Client, for the server, which speaks to the store itself.
Result<std::shared_ptr<client::Core>> open_core(std::string_view url);

// A redlock:// URL, or the URLs of the members: memory:, file:, redis: or rediss:. Members that
// cannot be reached now, be it all of them, may come later. Errors: bad_input, unsupported.
Result<std::shared_ptr<client::Core>> open_quorum(std::string_view url);
Result<std::shared_ptr<client::Core>> open_quorum(const std::vector<std::string>& members);

}  // namespace holdfast
