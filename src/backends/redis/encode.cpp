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

// What a command says besides its keys. The texts keep their room from one command of this thread
// to the next: encoding is most of what a client does under load.
struct Arguments {
  std::string record;
  std::string time;
  std::string options;
  std::string fence;
  std::string reserve;
  std::size_t count = 0;  // the last ones may be missing

  void clear() {
    record.clear();
    time.clear();
    options.clear();
    fence.clear();
    reserve.clear();
  }
  const std::string& operator[](std::size_t at) const {
    return at == 0 ? record : at == 1 ? time : at == 2 ? options : at == 3 ? fence : reserve;
  }
};

void append_identity(std::string& out, const OwnerId& owner, model::RequestId request) {
  out += lone_form;
  append_hex(out, std::to_underlying(request));
  out.append(owner.view()).push_back('\0');
}

// Compare the clock, wait, place, claim, converts, known.
void append_options(std::string& out, const model::Acquire& acquire, bool compare_clock) {
  out += compare_clock ? '1' : '0';
  out += acquire.wait ? '1' : '0';
  append_digits(out, acquire.place, 20);
  append_digits(out, static_cast<std::uint64_t>(acquire.claim.count()), 20);
  append_hex(out, std::to_underlying(acquire.converts));
  append_digits(out, acquire.known, 20);
}

void write(Arguments& out, const model::LockSpec& spec, const model::Acquire& acquire,
           bool compare_clock) {
  append_identity(out.record, acquire.owner, acquire.request);
  append_metadata(out.record, acquire.metadata);
  append_tail(out.record, {spec, acquire.permits, acquire.process, acquire.ttl, nullptr});
  append_digits(out.time, to_ms(acquire.ttl), 1);
  const bool plain_try = !acquire.wait && acquire.converts == model::RequestId::any;
  out.count = compare_clock || !plain_try ? 3 : 2;
  if (out.count == 3) append_options(out.options, acquire, compare_clock);
}

void write(Arguments& out, const model::LockSpec&, const model::Renew& renew, bool) {
  append_identity(out.record, renew.owner, renew.request);
  append_digits(out.time, to_ms(renew.ttl), 1);
  append_digits(out.options, static_cast<std::uint64_t>(renew.ttl.count()), 1);
  out.count = renew.fence == 0 ? 3 : renew.reserve ? 5 : 4;
  if (renew.fence != 0) append_digits(out.fence, renew.fence, 1);
  if (renew.reserve) out.reserve = "1";
}

void write(Arguments& out, const model::LockSpec&, const model::Release& release, bool) {
  append_identity(out.record, release.owner, release.request);
  append_digits(out.time, out.record.size() - 1, 1);  // the last byte of it in the lock's value
  const bool up_to = release.request == model::RequestId::any && release.up_to != UINT64_MAX;
  out.count = up_to ? 4 : release.only_unconfirmed ? 3 : 2;
  if (out.count > 2) out.options = release.only_unconfirmed ? "1" : "0";
  if (up_to) append_digits(out.fence, release.up_to, 1);
}

void write(Arguments& out, const model::LockSpec&, const model::ForceRelease& force, bool) {
  append_digits(out.record, force.up_to, 1);
  out.time = force.source;
  out.count = force.source.empty() ? 1 : 2;
}

void write(Arguments& out, const model::LockSpec&, const model::Inspect&, bool) { out.count = 0; }

Script script_of(const model::LockCommand& command) {
  constexpr std::array by_verb{Script::acquire, Script::renew, Script::release, Script::inspect,
                               Script::force_release};
  return by_verb[command.verb.index()];
}

}  // namespace

std::string encode(const Scripts& scripts, const Dialect& dialect, const LockName& name,
                   const model::LockCommand& command, Sending sending) {
  thread_local Arguments values;
  thread_local std::string key;
  values.clear();
  std::visit([&](const auto& verb) { write(values, command.spec, verb, sending.compare_clock); },
             command.verb);
  const auto shared = dialect.shared_keys(name);
  const std::size_t key_count = 4 + shared.size() + (scripts.audited() ? 1 : 0);
  const Scripts::Source& source = scripts[script_of(command)];
  constexpr std::size_t around = 256;  // the words and numbers between the texts
  net::resp::Command out(3 + key_count + values.count,
                         (sending.by_text ? source.text.size() : source.sha1.size()) +
                             4 * (name.str().size() + 16) + values.record.size() + around);
  out.add(sending.by_text ? "EVAL" : "EVALSHA");
  out.add(sending.by_text ? source.text : source.sha1);
  out.add(key_count);
  key.clear();
  dialect.append_state_key(key, name);
  const std::size_t bare = key.size();
  const auto beside = [&](std::string_view suffix) -> std::string_view {
    key.resize(bare);
    return key.append(suffix);
  };
  out.add(key).add(beside(":r")).add(beside(":z")).add(counter_key);
  for (const auto& each : shared) out.add(each);
  if (scripts.audited()) out.add(beside(":log"));
  for (std::size_t i = 0; i < values.count; ++i) out.add(values[i]);
  return std::move(out).take();
}

std::string channel_of(model::ProcessId process) {
  std::string channel(channel_prefix);
  append_hex(channel, std::to_underlying(process));
  return channel;
}

}  // namespace holdfast::backends::redis
