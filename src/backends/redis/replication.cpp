// SPDX-License-Identifier: Apache-2.0
#include "backends/redis/replication.hpp"

#include "net/resp/command.hpp"
#include "runtime/event.hpp"
#include "runtime/spawn.hpp"

#include <fmt/format.h>

namespace holdfast::backends::redis {

// One grant that waits for its WAIT.
struct Replication::Turn {
  explicit Turn(std::shared_ptr<runtime::Runtime> runtime) : done(std::move(runtime)) {}
  runtime::Event done;
  Result<std::uint32_t> replicas = 0U;  // written before `done` is notified
};

namespace {

// What somebody goes by who was told so.
bool must_last(const store::Reply& reply) {
  if (const auto* check = std::get_if<model::GuardOutcome>(&reply.outcome)) return check->accepted;
  if (const auto* rate = std::get_if<RateOutcome>(&reply.outcome)) return rate->allowed;
  if (const auto* run = std::get_if<model::RunOutcome>(&reply.outcome)) return run->done;
  return std::holds_alternative<model::Granted>(std::get<model::LockOutcome>(reply.outcome));
}

}  // namespace

Replication::Replication(std::shared_ptr<Server> server, const Options& options)
    : server_(std::move(server)), wanted_(options.replicas), timeout_(options.replica_timeout) {}

Task<Result<store::Reply>> Replication::apply(store::Request request) {
  const auto self = shared_from_this();
  const std::string name = request.name.str();
  const auto deadline = request.deadline;
  auto applying = server_->apply(std::move(request));
  Result<store::Reply> reply = co_await std::move(applying);
  if (!reply || !must_last(*reply)) co_return reply;
  // WAIT speaks of what its own connection wrote; on another one it would say yes to nothing.
  const auto written_over = server_->connection_number();
  auto confirming = confirmations(deadline);
  Result<std::uint32_t> replicas = co_await std::move(confirming);
  if (replicas && server_->connection_number() != written_over) replicas = 0;
  if (replicas && *replicas >= wanted_) co_return reply;
  co_return fail(Errc::not_replicated,
                 replicas ? fmt::format("'{}': {} of the {} wanted replicas confirmed within {}ms",
                                        name, *replicas, wanted_, timeout_.count() / 1000)
                          : fmt::format("'{}': {}", name, replicas.error().message));
}

// The next WAIT speaks for everything that was written before it is sent: all who come while one is
// under way share the one after it.
Task<Result<std::uint32_t>> Replication::confirmations(runtime::LocalTime deadline) {
  const auto turn = std::make_shared<Turn>(server_->runtime());
  bool start = false;
  {
    const std::lock_guard lock(mutex_);
    next_.push_back(turn);
    start = !running_;
    running_ = true;
  }
  if (start) runtime::spawn(run_rounds());
  const bool answered = co_await turn->done.wait_until(deadline);
  if (!answered) co_return fail(Errc::not_replicated, "no answer to WAIT in time");
  co_return turn->replicas;
}

Task<bool> Replication::run_rounds() {
  const auto self = shared_from_this();
  while (true) {
    std::vector<std::shared_ptr<Turn>> round;
    {
      const std::lock_guard lock(mutex_);
      round.swap(next_);
      running_ = !round.empty();
    }
    if (round.empty()) co_return true;
    auto waiting =
        server_->ask(net::resp::command("WAIT", std::to_string(wanted_),
                                        std::to_string(timeout_.count() / 1000)),
                     server_->runtime()->now() + 2 * timeout_ + std::chrono::milliseconds(100));
    const Result<net::resp::Reply> reply = co_await std::move(waiting);
    for (const auto& turn : round) {
      if (reply)
        turn->replicas = static_cast<std::uint32_t>((*reply)->integer);
      else
        turn->replicas = std::unexpected(reply.error());
      turn->done.notify();
    }
  }
}

}  // namespace holdfast::backends::redis
