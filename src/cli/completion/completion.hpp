// SPDX-License-Identifier: Apache-2.0
//
// Scripts that teach a shell to complete `holdfast`, made of what the commands declare. Names of
// locks come from the store, by the hidden command complete-names.
#pragma once

#include <string>

namespace holdfast::cli {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

// The text as one word of bash and zsh.
std::string shell_quoted(std::string_view text);

}  // namespace holdfast::cli
