// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"
#include "cli/look/warnings.hpp"
#include "cli/options.hpp"
#include "cli/owner.hpp"

#include <fmt/format.h>

#include <memory>

namespace holdfast::cli {
namespace release_cmd {
namespace {

struct Arguments {
  std::string name;
  std::string owner;
  std::optional<Fence> fence;
};

Result<int> release(Context& context, const Arguments& arguments) {
  const WarningsAsDetails warnings(context.console);
  if (auto owner = owner_in_force(arguments.owner, arguments.name); !owner)
    return std::unexpected(owner.error());
  auto client = context.open_store();
  if (!client) return std::unexpected(std::move(client.error()));
  auto lease = adopt(*client, arguments.name, arguments.owner, arguments.fence.value_or(0));
  if (!lease) return std::unexpected(std::move(lease.error()));
  const auto released = lease->release();
  if (!released) return std::unexpected(released.error());
  // It ended between the look and the release.
  if (*released == Released::already_expired) {
    return fail(Errc::not_held, fmt::format("'{}' is not held", arguments.name));
  }
  if (*released == Released::held_by_another) {
    return fail(Errc::not_owner, fmt::format("'{}' is held by another owner", arguments.name));
  }
  context.console.print({{"name", arguments.name}, {"released", true}});
  context.console.detail(fmt::format("'{}' was released", arguments.name));
  return 0;
}

Action declare(Syntax& syntax) {
  const auto arguments = std::make_shared<Arguments>();
  add_name(syntax, arguments->name);
  add_owner(syntax, arguments->owner);
  add_fence(syntax, arguments->fence);
  return [arguments](Context& context) { return release(context, *arguments); };
}

constexpr Example examples[] = {
    {"holdfast release deploy --owner \"$owner\"", "Give back what acquire took."},
    {"HOLDFAST_OWNER=$owner holdfast release deploy",
     "The same, without the token in the list of processes."},
    {"holdfast release deploy --owner job-17 --fence \"$fence\"",
     "Only this lease: an owner that is used again may have the next one already."}};

}  // namespace
}  // namespace release_cmd

extern const Command release_command;
const Command release_command{
    .name = "release",
    .arguments = "NAME",
    .summary = "give back a lock that acquire took",
    .description =
        "Releases everything that the owner holds of the lock, and hands it to the next in line. "
        "Whoever knows the owner token may do that, from any machine.\n\n"
        "An owner token that acquire drew is used once, so that releasing it again does no harm. "
        "An "
        "owner of your own choice may have taken the lock anew by then, and a release that comes "
        "late would end that lease: --fence names the one that is meant.\n\n"
        "The exit code is 0 if it was released, 82 if nobody holds it (the lease had ended, or it "
        "was released before; with --fence also if the owner has only newer leases), and 83 if "
        "somebody else holds it. In both cases nothing is changed, and whatever was done under the "
        "lock may have overlapped with somebody else.",
    .examples = release_cmd::examples,
    .declare = release_cmd::declare};

}  // namespace holdfast::cli
