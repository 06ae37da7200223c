// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/error_replies.hpp"

#include <fmt/format.h>

namespace holdfast::backends::redis {

namespace {

using Then = Refusal::Then;

struct Rule {
  std::string_view word;  // the reply's first one
  Then then;
  Errc code;
  std::string_view meaning;
};

constexpr Rule rules[] = {
    {"NOSCRIPT", Then::load_script, Errc::unavailable, "forgot the script"},
    {"LOADING", Then::retry, Errc::unavailable, "is loading its data"},
    {"BUSY", Then::retry, Errc::unavailable, "is busy with somebody's script"},
    {"MASTERDOWN", Then::retry, Errc::unavailable, "is a replica that lost its master"},
    {"CLUSTERDOWN", Then::retry, Errc::unavailable, "is part of a cluster that is down"},
    {"TRYAGAIN", Then::retry, Errc::unavailable, "is moving the key"},
    {"READONLY", Then::change_server, Errc::unavailable, "is a replica, and takes no writes"},
    {"MOVED", Then::give_up, Errc::unsupported,
     "is part of a cluster; Holdfast needs a server that has all keys"},
    {"ASK", Then::give_up, Errc::unsupported,
     "is part of a cluster; Holdfast needs a server that has all keys"},
    {"CROSSSLOT", Then::give_up, Errc::unsupported,
     "is part of a cluster; Holdfast needs a server that has all keys"},
    {"OOM", Then::give_up, Errc::unavailable, "is out of memory (maxmemory)"},
    {"MISCONF", Then::give_up, Errc::unavailable, "cannot save to its disk and refuses writes"},
    {"NOREPLICAS", Then::give_up, Errc::unavailable,
     "has too few replicas (min-replicas-to-write)"},
    {"NOAUTH", Then::give_up, Errc::unavailable, "wants a login"},
    {"WRONGPASS", Then::give_up, Errc::unavailable, "does not accept the user or password"},
    {"NOPERM", Then::give_up, Errc::unavailable, "does not allow that to this user"},
    {"WRONGTYPE", Then::give_up, Errc::spec_mismatch,
     "has something else under this name; it was left alone"},
    {"HFFORMAT", Then::give_up, Errc::unsupported,
     "has this lock in the format of a newer version of Holdfast"},
};

// Redis 7 puts the error of a command inside a script before a sentence of its own, Redis 6.2
// behind one: "ERR Error running script (call to f_…): @user_script:9: @user_script: 9: -OOM
// command …".
std::string_view own_words(std::string_view reply) {
  if (!reply.starts_with("ERR Error running script")) return reply;
  constexpr std::string_view place = "@user_script:";
  std::string_view words = reply;
  for (auto at = words.find(place); at != std::string_view::npos;) {
    words.remove_prefix(at + place.size());
    const auto end = words.find(": ");
    if (end == std::string_view::npos) return reply;
    words.remove_prefix(end + 2);
    at = words.starts_with(place) ? 0 : std::string_view::npos;
  }
  return words.starts_with('-') ? words.substr(1) : words;
}

std::string_view first_word(std::string_view reply) {
  return reply.substr(0, reply.find_first_of(" :"));
}

}  // namespace

Refusal judge(std::string_view reply, std::string_view peer) {
  const auto word = first_word(own_words(reply));
  for (const Rule& rule : rules) {
    if (rule.word != word) continue;
    return {rule.then, {rule.code, fmt::format("{} {} ({})", peer, rule.meaning, reply)}};
  }
  // What we do not know, we cannot vouch for.
  return {Then::give_up, {Errc::outcome_unknown, fmt::format("{} answers: {}", peer, reply)}};
}

}  // namespace holdfast::backends::redis
