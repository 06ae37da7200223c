// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/caller.hpp"

#include "server/auth/principal.hpp"

namespace holdfast::server {

namespace {

Verb verb_of(forrst::Caller::Right right) {
  switch (right) {
    case forrst::Caller::Right::read: return Verb::read;
    case forrst::Caller::Right::lock: return Verb::lock;
    case forrst::Caller::Right::admin: break;
  }
  return Verb::admin;
}

}  // namespace

forrst::Caller caller_of(Who who, bool is_known) {
  const auto badge = std::make_shared<const Who>(std::move(who));
  forrst::Caller caller{.is_known = is_known, .badge = badge};
  if (is_known) caller.subject = badge->principal->name;
  caller.may = [principal = badge->principal](forrst::Caller::Right right, std::string_view name) {
    return name.empty() ? principal->may(verb_of(right)) : principal->may(verb_of(right), name);
  };
  return caller;
}

Who who_of(const forrst::Caller& caller) {
  const auto who = std::static_pointer_cast<const Who>(caller.badge);
  return who ? *who : Who{};
}

}  // namespace holdfast::server
