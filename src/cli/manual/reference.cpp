// SPDX-License-Identifier: Apache-2.0
#include "cli/manual/reference.hpp"

#include "cli/console.hpp"
#include "text/error_codes.hpp"

#include <algorithm>

namespace holdfast::cli {

std::string_view meaning(Errc code) {
  switch (code) {
    case Errc::busy: return "Somebody else holds the lock, and the call did not want to wait.";
    case Errc::timed_out: return "The wait ended before the lock came free. Nothing is held.";
    case Errc::cancelled: return "The caller stopped the call. Nothing is held.";
    case Errc::lost: return "The lease ended under its holder: it expired or was taken away.";
    case Errc::unavailable:
      return "The store cannot be reached or refuses to work. Nothing was changed.";
    case Errc::quorum_not_reached:
      return "Too few members of a quorum answered. What was granted was given back.";
    case Errc::not_replicated:
      return "Granted, but too few replicas confirmed it, so it was given back.";
    case Errc::outcome_unknown: return "The command may or may not have happened.";
    case Errc::spec_mismatch: return "The name is in use as another kind of lock.";
    case Errc::not_held: return "Nobody holds the lock (any more).";
    case Errc::not_owner: return "Somebody else holds the lock.";
    case Errc::deadlock: return "Waiting would never end.";
    case Errc::bad_input:
      return "The call breaks a rule. The message names the field and the rule.";
    case Errc::unsupported: return "This store cannot do that soundly. The message says why.";
    case Errc::limit_reached: return "A limit is in the way. The message names it.";
  }
  return "";
}

std::vector<Fact> exit_codes(bool takes_command) {
  std::vector<Fact> facts{{"0", "", "Done."}};
  if (takes_command) facts = {};
  for (const auto& row : text::error_table()) {
    facts.push_back({std::to_string(row.exit_code), row.word, meaning(row.code)});
  }
  facts.push_back({"70", "", "A mistake in holdfast itself."});
  facts.push_back({std::to_string(exit_output_failed), "", "Standard output cannot be written."});
  std::ranges::sort(facts, {}, [](const Fact& fact) { return std::stoi(fact.head); });
  if (takes_command) {
    facts.insert(facts.begin(), {"any", "", "What the command exited with, if it ran to its end."});
    facts.push_back({"126", "", "The command was found and cannot be run."});
    facts.push_back({"127", "", "The command was not found."});
    facts.push_back({"128+n", "", "Signal n ended the command."});
  }
  return facts;
}

std::vector<Fact> variables_read() {
  return {
      {"HOLDFAST_STORE", "", "The store, where --store does not say it."},
      {"HOLDFAST_PROFILE", "", "The profile, where --profile does not say it."},
      {"HOLDFAST_CONFIG", "",
       "A configuration file instead of the usual ones, where --config does not name one."},
      {"HOLDFAST_SYSTEM_CONFIG", "",
       "The machine's configuration file, instead of /etc/holdfast/config.yml."},
      {"HOLDFAST_OWNER", "", "The owner token, where --owner does not say it."},
      {"XDG_CONFIG_HOME", "",
       "The folder of the user's holdfast/config.yml, instead of ~/.config."},
      {"NO_COLOR", "", "No colours, if set to anything."},
  };
}

std::vector<Fact> variables_set() {
  return {
      {"HOLDFAST_NAME", "", "The name of the lock."},
      {"HOLDFAST_FENCE", "", "The fence of the lease, for the resource to check."},
      {"HOLDFAST_OWNER", "",
       "The owner token. Whoever knows it may renew and release the lease; a nested run with "
       "--reentrant enters by it."},
  };
}

std::vector<Fact> files() {
  return {
      {"~/.config/holdfast/config.yml", "", "The user's settings and profiles."},
      {"/etc/holdfast/config.yml", "",
       "The machine's settings and profiles, for what the user's file does not say."},
      {"~/.local/state/holdfast, /run/holdfast", "",
       "Where the store file: keeps its locks when it names no folder; the second is root's."},
  };
}

}  // namespace holdfast::cli
