// SPDX-License-Identifier: Apache-2.0
#include "backends/file/worker.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::backends::file {

// The event belongs to the waiting coroutine: once that is gone, nobody is told.
struct Worker::Job {
  Job(Patience given, std::weak_ptr<runtime::Event> event)
      : patience(std::move(given)), finished(std::move(event)) {}
  virtual ~Job() = default;
  virtual PendingStep* step() { return nullptr; }
  virtual void run_alone(Environment&, const runtime::Runtime&) {}
  virtual void fail_with(const Error& error) = 0;

  Patience patience;
  std::weak_ptr<runtime::Event> finished;
};

struct Worker::StepJob final : Job {
  StepJob(store::Request given, std::weak_ptr<runtime::Event> event)
      : Job({given.deadline, given.stop}, std::move(event)), request(std::move(given)) {}
  PendingStep* step() override { return &pending; }
  void fail_with(const Error& error) override { pending.reply = std::unexpected(error); }

  store::Request request;
  PendingStep pending{.request = &request};
};

struct Worker::ListJob final : Job {
  ListJob(store::ListRequest given, std::weak_ptr<runtime::Event> event)
      : Job({given.deadline, {}}, std::move(event)), request(std::move(given)) {}
  void run_alone(Environment& environment, const runtime::Runtime& runtime) override {
    auto inside = environment.enter(runtime, patience);
    if (!inside) return fail_with(inside.error());
    page = environment.list(std::move(*inside), request);
  }
  void fail_with(const Error& error) override { page = std::unexpected(error); }

  store::ListRequest request;
  Result<LockPage> page = LockPage{};
};

Worker::Worker(std::shared_ptr<Environment> environment, std::shared_ptr<runtime::Runtime> runtime)
    : environment_(std::move(environment)),
      runtime_(std::move(runtime)),
      thread_([this] { run(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Task<Result<store::Reply>> Worker::apply(store::Request request) {
  const auto finished = std::make_shared<runtime::Event>(runtime_);
  const auto job = std::make_shared<StepJob>(std::move(request), finished);
  if (auto queued = enqueue(job); !queued) co_return std::unexpected(std::move(queued.error()));
  co_await finished->wait_until(runtime::LocalTime::max());
  co_return std::move(job->pending.reply);
}

Task<Result<LockPage>> Worker::list(store::ListRequest request) {
  const auto finished = std::make_shared<runtime::Event>(runtime_);
  const auto job = std::make_shared<ListJob>(std::move(request), finished);
  if (auto queued = enqueue(job); !queued) co_return std::unexpected(std::move(queued.error()));
  co_await finished->wait_until(runtime::LocalTime::max());
  co_return std::move(job->page);
}

Result<void> Worker::enqueue(std::shared_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= max_queued_steps) {
      return environment_->failure(
          Errc::unavailable,
          fmt::format("max_queued_steps: {} steps wait for the store already", max_queued_steps));
    }
    queue_.push_back(std::move(job));
  }
  changed_.notify_one();
  return {};
}

void Worker::run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
    }
    auto inside = environment_->enter_within(patience_slice, *runtime_);
    if (!inside)
      answer_all(inside.error());
    else if (*inside)
      serve(std::move(**inside));
    else
      answer_those_out_of_patience();
  }
}

// What is queued is taken only now, with the lock at hand: whatever came while another process was
// inside goes into the same transaction.
void Worker::serve(WriterLock lock) {
  const auto jobs = take_if([](const Job&) { return true; });
  std::vector<PendingStep*> steps;
  for (const auto& job : jobs) {
    if (job->patience.stop.stop_requested()) {
      job->fail_with({Errc::cancelled, "cancelled before the store was asked"});
    } else if (PendingStep* step = job->step()) {
      steps.push_back(step);
    }
  }
  environment_->run(std::move(lock), steps);
  for (const auto& job : jobs) {
    job->run_alone(*environment_, *runtime_);
    finish(*job);
  }
}

void Worker::answer_those_out_of_patience() {
  const auto now = runtime_->now();
  const auto busy =
      environment_->failure(Errc::unavailable, describe_writer(environment_->wake(), now)).error();
  const Error cancelled{Errc::cancelled, "cancelled while the store was busy"};
  const auto gives_up = [now](const Job& job) {
    return job.patience.stop.stop_requested() || now >= job.patience.deadline;
  };
  for (const auto& job : take_if(gives_up)) {
    job->fail_with(job->patience.stop.stop_requested() ? cancelled : busy);
    finish(*job);
  }
}

void Worker::answer_all(const Error& error) {
  for (const auto& job : take_if([](const Job&) { return true; })) {
    job->fail_with(error);
    finish(*job);
  }
}

void Worker::finish(const Job& job) {
  runtime_->post([event = job.finished] {
    if (const auto finished = event.lock()) finished->notify();
  });
}

template <typename Condition>
std::vector<std::shared_ptr<Worker::Job>> Worker::take_if(Condition wanted) {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Job>> jobs;
  std::vector<std::shared_ptr<Job>> left;
  for (auto& job : queue_) (wanted(*job) ? jobs : left).push_back(std::move(job));
  queue_ = std::move(left);
  return jobs;
}

}  // namespace holdfast::backends::file
