// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/keys.hpp"
#include "backends/redis/record.hpp"
#include "backends/redis/wire.hpp"
#include "net/resp/command.hpp"

#include <array>
#include <utility>

namespace holdfast::backends::redis {

namespace {

constexpr char lone_form = '1';

std::uint64_t to_ms(Micros time) {
  return static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

// Up to four arguments; the last ones may be missing.
struct Arguments {
  std::array<std::string, 3> texts;
  std::size_t count = 0;
  void add(std::string text) { texts[count++] = std::move(text); }
};

std::string identity(const OwnerId& owner, model::RequestId request, std::size_t more_bytes = 0) {
  std::string out;
  out.reserve(18 + owner.view().size() + more_bytes);
  out += lone_form;
  append_hex(out, std::to_underlying(request));
  out.append(owner.view()).push_back('\0');
  return out;
}

// Resync, wait, place, claim, converts, known.
std::string options_of(const model::Acquire& acquire, bool resync) {
  std::string out;
  out.reserve(78);
  out += resync ? '1' : '0';
  out += acquire.wait ? '1' : '0';
  append_digits(out, acquire.place, 20);
  append_digits(out, static_cast<std::uint64_t>(acquire.claim.count()), 20);
  append_hex(out, std::to_underlying(acquire.converts));
  append_digits(out, acquire.known, 20);
  return out;
}

Arguments arguments(const model::LockSpec& spec, const model::Acquire& acquire, bool resync) {
  std::string record = identity(acquire.owner, acquire.request, 256);
  append_metadata(record, acquire.metadata);
  append_tail(record, {spec, acquire.permits, acquire.process, acquire.ttl, nullptr});
  Arguments out;
  out.add(std::move(record));
  out.add(std::to_string(to_ms(acquire.ttl)));
  const bool plain_try = !acquire.wait && acquire.converts == model::RequestId::any;
  if (resync || !plain_try) out.add(options_of(acquire, resync));
  return out;
}

Arguments arguments(const model::LockSpec&, const model::Renew& renew, bool) {
  Arguments out;
  out.add(identity(renew.owner, renew.request));
  out.add(std::to_string(to_ms(renew.ttl)));
  out.add(std::to_string(renew.ttl.count()));
  return out;
}

Arguments arguments(const model::LockSpec&, const model::Release& release, bool) {
  Arguments out;
  out.add(identity(release.owner, release.request));
  if (release.only_unconfirmed) out.add("1");
  return out;
}

Arguments arguments(const model::LockSpec&, const model::ForceRelease& force, bool) {
  Arguments out;
  out.add(std::to_string(force.up_to));
  return out;
}

Arguments arguments(const model::LockSpec&, const model::Inspect&, bool) { return {}; }

Script script_of(const model::LockCommand& command) {
  constexpr std::array by_verb{Script::acquire, Script::renew, Script::release, Script::inspect,
                               Script::force_release};
  return by_verb[command.verb.index()];
}

}  // namespace

std::string encode(const Scripts& scripts, const Dialect& dialect, const LockName& name,
                   const model::LockCommand& command, Sending sending) {
  const Scripts::Source& source = scripts[script_of(command)];
  const auto values = std::visit(
      [&](const auto& verb) { return arguments(command.spec, verb, sending.resync); },
      command.verb);
  const std::string key = dialect.state_key(name);
  const auto shared = dialect.shared_keys(name);
  const std::size_t key_count = 4 + shared.size() + (scripts.audited() ? 1 : 0);
  net::resp::Command out(3 + key_count + values.count,
                         sending.by_text ? source.text.size() + 1024 : 1024);
  out.add(sending.by_text ? "EVAL" : "EVALSHA");
  out.add(sending.by_text ? source.text : source.sha1);
  out.add(key_count);
  out.add(key).add(key + ":r").add(key + ":z").add(counter_key);
  for (const auto& each : shared) out.add(each);
  if (scripts.audited()) out.add(key + ":log");
  for (std::size_t i = 0; i < values.count; ++i) out.add(values.texts[i]);
  return std::move(out).take();
}

std::string channel_of(model::ProcessId process) {
  std::string channel(channel_prefix);
  append_hex(channel, std::to_underlying(process));
  return channel;
}

}  // namespace holdfast::backends::redis
