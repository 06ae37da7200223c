// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include "text/duration.hpp"
#include "text/fence.hpp"

#include <utility>

namespace holdfast::cli {

Option& add_duration(Syntax& syntax, std::string names, std::optional<Duration>& value,
                     std::string text) {
  const auto read = [&value](const std::string& typed) -> Result<void> {
    const auto duration = text::parse_duration(typed);
    if (!duration) return std::unexpected(duration.error());
    value = *duration;
    return {};
  };
  return syntax.option(std::move(names), read, "DURATION", std::move(text));
}

Option& add_name(Syntax& syntax, std::string& name) {
  return syntax.positional("NAME", &name, "The lock's name").required();
}

Option& add_owner(Syntax& syntax, std::string& owner) {
  return syntax.option("--owner", &owner, "TOKEN",
                       "The owner token that acquire printed; HOLDFAST_OWNER if not given");
}

Option& add_fence(Syntax& syntax, std::optional<Fence>& fence) {
  const auto read = [&fence](const std::string& typed) -> Result<void> {
    fence = text::parse_fence(typed);
    if (!fence) return fail(Errc::bad_input, std::string(text::fence_rule));
    return {};
  };
  return syntax.option("--fence", read, "N",
                       "Only up to this fence, which acquire printed: what the owner was granted "
                       "since is left alone");
}

}  // namespace holdfast::cli
