// SPDX-License-Identifier: Apache-2.0
#include "simulation/quorum/line.hpp"

#include "client/core.hpp"
#include "runtime/spawn.hpp"
#include "simulation/step_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stop_token>
#include <utility>

namespace holdfast::simulation::quorum {

Line::Line(LineId id, std::shared_ptr<Process> process, Carrier& carrier)
    : id_(id),
      process_(std::move(process)),
      carrier_(carrier),
      mailbox_(process_),
      calls_(*process_, [this](CallId call) { hear_nothing(call); }) {
  mailbox_.on_unwanted([this](const LockName& name, const OwnerId& owner, model::RequestId which) {
    give_back(name, owner, which);
  });
}

std::string Line::describe() const { return fmt::format("member {}", id_.member + 1); }

Task<Result<store::Reply>> Line::apply(store::Request request) {
  if (gone_) co_return fail(Errc::unavailable, "the process is gone");
  Calls::Call call(calls_, request.deadline);
  const std::stop_callback on_stop(request.stop, [this, id = call.id()] {
    process_->post([this, id] { calls_.end_unknown(id, "cancelled on its way"); });
  });
  carrier_.carry(id_, {call.id(), connection_, run_, std::move(request)});
  Result<store::Reply> reply = co_await call;
  co_return reply;
}

Result<std::unique_ptr<store::Listening>> Line::listen(const LockName&, const OwnerId&,
                                                       model::RequestId request) {
  return mailbox_.listen(request, model::ProcessId{id_.client + 1});
}

Task<Result<LockPage>> Line::list(store::ListRequest) {
  return Task<Result<LockPage>>(fail(Errc::unsupported, "nobody lists here"));
}

void Line::hear_nothing(CallId call) {
  calls_.end_unknown(call, "no answer in time");
  if (carrier_.gives_up_on_silence()) break_connection();
}

void Line::answer(std::uint32_t connection, const Identity& who, CallId call,
                  Result<store::Reply> reply) {
  if (connection != connection_) return;
  meet(who);
  calls_.end(call, std::move(reply));
}

void Line::refused(std::uint32_t connection, CallId call, Errc code) {
  if (connection != connection_) return;
  calls_.end(call, fail(code, "connection refused"));
  break_connection();
}

// The first reply of a connection tells who is there, before anybody reads it.
void Line::meet(const Identity& who) {
  if (run_ == who.run) return;
  run_ = who.run;
  std::string server = fmt::format("{}.{}", id_.member + 1, who.run);
  const bool is_another_connection = std::exchange(was_connected_, true);
  if (server != standing_.server) {
    const auto at = process_->now();
    if (!standing_.server.empty()) standing_.replaced_at = at;
    standing_.server = std::move(server);
    standing_.place = "0";
    standing_.up_since = at - std::chrono::seconds(std::max<Time>(who.up_for_s - 1, 0));
    standing_.keeps_memory = who.keeps_memory;
  }
  if (!is_another_connection) return;
  for (std::size_t i = 0; i < on_change_.size(); ++i) on_change_[i]();
}

void Line::break_connection() {
  ++connection_;
  run_ = 0;
  calls_.end_all_unknown("connection reset");
}

void Line::hang_up() {
  gone_ = true;
  break_connection();
}

void Line::give_back(const LockName& name, const OwnerId& owner, model::RequestId request) {
  runtime::spawn(
      apply(return_of_grant(name, owner, request, process_->now() + client::command_timeout)));
}

}  // namespace holdfast::simulation::quorum
