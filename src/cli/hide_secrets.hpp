// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace holdfast::cli {

// Overwrites secrets in the words of the command line where they lie, so that `ps` does not show
// them: the password in `--store URL` and in any other URL in front of "--", and the token of
// `--owner TOKEN`. What stands behind "--" is another program's, but it may be a holdfast with the
// same two options. Copy the words before.
void hide_secrets(std::span<char*> words);

}  // namespace holdfast::cli
