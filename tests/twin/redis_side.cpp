// SPDX-License-Identifier: Apache-2.0
#include "redis_side.hpp"

#include "net/resp/command.hpp"
#include "virtual_time.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace holdfast::test {

namespace {

using backends::redis::Script;
using net::resp::text_of;

// Whatever was published before it has arrived when it arrives.
constexpr std::string_view barrier_channel = "twin:barrier";

const model::LockCommand look{.spec = {}, .verb = model::Inspect{}};

model::ProcessId process_of_channel(std::string_view channel) {
  channel.remove_prefix(channel.rfind(':') + 1);
  return model::ProcessId{std::stoull(std::string(channel), nullptr, 16)};
}

Result<store::Reply> decoded(const model::LockCommand& command, const redisReply& reply) {
  if (net::resp::is_error(reply)) {
    return fail(Errc::unavailable, std::string(text_of(reply)));
  }
  return backends::redis::decode(command, reply);
}

}  // namespace

RedisSide::RedisSide(std::uint32_t audit, backends::redis::Dialect dialect)
    : dialect_(std::move(dialect)),
      scripts_({.dialect = dialect_.profile().script,
                .unit_ms = dialect_.profile().unit_ms,
                .audit = audit,
                .prelude = virtual_time_prelude}) {
  for (const auto script :
       {Script::acquire, Script::renew, Script::release, Script::force_release, Script::inspect}) {
    const auto& source = scripts_[script];
    if (commands_.text({"SCRIPT", "LOAD", source.text}) != source.sha1) {
      throw std::runtime_error("a script does not load");
    }
  }
  clock_sha1_ = commands_.text({"SCRIPT", "LOAD", std::string(move_clock_script)});
  shared_key_sha1_ = commands_.text({"SCRIPT", "LOAD", std::string(shared_key_script)});
  listener_.call({"SUBSCRIBE", std::string(barrier_channel)});
}

void RedisSide::forget_everything() { commands_.call({"FLUSHALL"}); }

void RedisSide::listen(model::ProcessId process) {
  listener_.call({"SUBSCRIBE", backends::redis::channel_of(process)});
}

void RedisSide::stop_listening(model::ProcessId process) {
  listener_.call({"UNSUBSCRIBE", backends::redis::channel_of(process)});
}

std::uint64_t RedisSide::move_clock(model::StoreTime now) {
  const auto us = std::to_string(now.time_since_epoch().count());
  return static_cast<std::uint64_t>(commands_.integer({"EVALSHA", clock_sha1_, "0", us}));
}

std::string RedisSide::look_at_shared_key(const LockName& name) const {
  const auto keys = dialect_.shared_keys(name);
  net::resp::Command out(3 + keys.size());
  out.add("EVALSHA").add(shared_key_sha1_).add(keys.size());
  for (const auto& key : keys) out.add(key);
  return std::move(out).take();
}

std::vector<StepAnswer> RedisSide::round(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    commands_.send(encode(scripts_, dialect_, step.name, step.command, step.sending));
    commands_.send(encode(scripts_, dialect_, step.name, look, {}));
    if (!dialect_.is_native()) commands_.send(look_at_shared_key(step.name));
  }
  commands_.send("PUBLISH " + std::string(barrier_channel) + " now\r\n");
  std::vector<StepAnswer> answers;
  for (const Step& step : steps) {
    auto reply = decoded(step.command, *commands_.receive());
    auto after = backends::redis::decode_snapshot(*commands_.receive());
    answers.push_back({std::move(reply), std::move(after), {}, {}});
    if (!dialect_.is_native()) answers.back().shared = shared_key_from(*commands_.receive());
  }
  commands_.receive();
  receive_messages(steps, answers);
  return answers;
}

void RedisSide::receive_messages(const std::vector<Step>& steps, std::vector<StepAnswer>& answers) {
  for (;;) {
    const auto reply = listener_.receive();
    if (reply->elements != 3) throw std::runtime_error("not a message");
    const auto channel = text_of(*reply->element[1]);
    if (channel == barrier_channel) return;
    auto delivery = backends::redis::decode_message(text_of(*reply->element[2]), dialect_);
    if (!delivery) throw std::runtime_error("a message that cannot be read");
    const auto to = std::ranges::find(steps, delivery->name, &Step::name);
    if (to == steps.end()) throw std::runtime_error("a message for another lock");
    delivery->message.process = process_of_channel(channel);
    answers[static_cast<std::size_t>(to - steps.begin())].messages.push_back(
        std::move(delivery->message));
  }
}

}  // namespace holdfast::test
