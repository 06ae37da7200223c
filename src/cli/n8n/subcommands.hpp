// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.hpp"

#include <span>

namespace holdfast::cli {

// What may stand behind `holdfast n8n`, in the order in which help lists it. Their names have two
// words: "n8n add-lock".
std::span<const Command* const> n8n_subcommands();

}  // namespace holdfast::cli
