// SPDX-License-Identifier: Apache-2.0
#include "server/forrst/command_function.hpp"

#include "server/forrst/child_process.hpp"
#include "server/forrst/conversation.hpp"
#include "server/forrst/program.hpp"
#include "server/forrst/result.hpp"
#include "server/log.hpp"

#include <boost/json/serialize.hpp>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace holdfast::server {

namespace {

using forrst::Invocation;
using forrst::Outcome;
namespace codes = forrst::codes;

// What the server itself may have in its environment says nothing about this call.
constexpr std::array<std::string_view, 6> told_by_us{"HOLDFAST_FENCE",     "HOLDFAST_NAME",
                                                     "HOLDFAST_OWNER",     "HOLDFAST_KEY",
                                                     "HOLDFAST_TOOK_OVER", "HOLDFAST_REQUEST_ID"};

std::vector<std::string> environment_of(const Invocation& call) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view line(*each);
    const auto name = line.substr(0, line.find('='));
    if (std::ranges::find(told_by_us, name) == told_by_us.end()) all.emplace_back(line);
  }
  const auto tell = [&](std::string_view name, std::string_view value) {
    all.push_back(fmt::format("{}={}", name, value));
  };
  if (call.lock) {
    tell("HOLDFAST_FENCE", std::to_string(call.lock->fence));
    tell("HOLDFAST_NAME", call.lock->full_key);
    tell("HOLDFAST_OWNER", call.lock->owner);
  }
  if (!call.idempotency_key.empty()) {
    tell("HOLDFAST_KEY", call.idempotency_key);
    tell("HOLDFAST_TOOK_OVER", call.took_over ? "true" : "false");
  }
  tell("HOLDFAST_REQUEST_ID", call.id);
  return all;
}

// For operators: callers are told nothing of what is inside.
void note(LogLevel level, const Invocation& call, std::string_view what,
          std::string_view complaint) {
  log(level, "forrst command",
      {{"function", call.function},
       {"what", std::string(what)},
       {"stderr", std::string(complaint)}});
}

Outcome judge_exit(const Invocation& call, const Conversation& said, int status) {
  const bool has_exited = WIFEXITED(status);
  const int code = has_exited ? WEXITSTATUS(status) : WTERMSIG(status);
  if (has_exited && code == 0) {
    if (!said.complaint().empty()) note(LogLevel::info, call, "exit code 0", said.complaint());
    if (auto result = parse_result(said.output())) return std::move(*result);
    note(LogLevel::warning, call, "standard output is no JSON", said.complaint());
    return failed(codes::internal_error, "The function's command wrote something that is no JSON");
  }
  note(LogLevel::warning, call, fmt::format("{} {}", has_exited ? "exit code" : "signal", code),
       said.complaint());
  if (!has_exited) {
    return failed(codes::internal_error, "The function's command was killed", {{"signal", code}});
  }
  if (auto fault = parse_fault(said.output())) return std::unexpected(std::move(*fault));
  return failed(codes::internal_error, "The function's command failed", {{"exit_code", code}});
}

Outcome judge(const Invocation& call, const Conversation& said, int status) {
  switch (said.end()) {
    case Conversation::End::by_itself: return judge_exit(call, said, status);
    case Conversation::End::too_long:
      note(LogLevel::warning, call, "standard output is too long", said.complaint());
      return failed(codes::internal_error, "The function's command wrote too much",
                    {{"max_bytes", max_command_output_bytes}});
    case Conversation::End::out_of_time:
      note(LogLevel::warning, call, "was ended at its deadline", said.complaint());
      return failed(codes::deadline_exceeded, "The function's command took too long");
    case Conversation::End::stopped: break;
  }
  note(LogLevel::info, call, "was ended: nobody needs it any more", said.complaint());
  return failed(codes::internal_error, "The function's command was ended before its time");
}

Outcome run(const std::vector<std::string>& words, const Invocation& call) {
  // It may have waited long for a thread. What has not begun can begin again without harm.
  if (call.stop.stop_requested() || Conversation::Clock::now() >= call.deadline) {
    return failed(codes::unavailable, "The function's command was not started in time");
  }
  const auto file = find_program(words.front());
  if (!file) {
    note(LogLevel::error, call, fmt::format("there is no program {}", words.front()), "");
    return failed(codes::unavailable, "The function's command cannot be started");
  }
  auto child = ChildProcess::start({*file, words, environment_of(call)});
  if (!child) {
    note(LogLevel::error, call, child.error().message, "");
    return failed(codes::unavailable, "The function's command cannot be started");
  }
  Conversation said(*child, boost::json::serialize(call.arguments) + "\n");
  said.run(call.deadline, call.stop);
  return judge(call, said, child->reap());
}

}  // namespace

forrst::Handler command_function(std::vector<std::string> words) {
  return [words = std::move(words)](const Invocation& call) { return run(words, call); };
}

}  // namespace holdfast::server
