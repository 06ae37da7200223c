// SPDX-License-Identifier: Apache-2.0
//
// The only file that names every subcommand of n8n.
#include "cli/n8n/subcommands.hpp"

namespace holdfast::cli {

extern const Command n8n_acquire_command;
extern const Command n8n_add_lock_command;
extern const Command n8n_add_rate_limit_command;
extern const Command n8n_cleanup_command;
extern const Command n8n_copy_primitive_command;
extern const Command n8n_create_lock_command;
extern const Command n8n_doctor_command;
extern const Command n8n_rate_limit_command;
extern const Command n8n_release_command;

namespace {

constexpr const Command* subcommands[] = {
    &n8n_acquire_command,        &n8n_release_command,        &n8n_rate_limit_command,
    &n8n_cleanup_command,        &n8n_create_lock_command,    &n8n_add_lock_command,
    &n8n_add_rate_limit_command, &n8n_copy_primitive_command, &n8n_doctor_command,
};

}  // namespace

std::span<const Command* const> n8n_subcommands() { return subcommands; }

}  // namespace holdfast::cli
