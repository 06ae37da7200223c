// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace holdfast::cli {

// Overwrites passwords in the words of the command line where they lie, so that `ps` does not show
// them: `--store URL`, `--store=URL`, and any other URL in front of "--". What stands behind "--"
// is another program's, but for a --store. Copy the words before.
void hide_secrets(std::span<char*> words);

}  // namespace holdfast::cli
