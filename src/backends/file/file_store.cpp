// SPDX-License-Identifier: Apache-2.0
#include "backends/file/file_store.hpp"

#include "backends/file/listener.hpp"
#include "backends/file/places.hpp"
#include "backends/file/registry.hpp"
#include "backends/file/worker.hpp"
#include "store/mailbox.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

namespace holdfast::backends::file {

namespace {

using store::Reply;
using store::Request;

// Threads are started by the first call that needs them, so that opening a store and trying a lock
// stay cheap for a short-lived program.
class FileStore final : public store::Store {
 public:
  FileStore(std::shared_ptr<Environment> environment, std::shared_ptr<runtime::Runtime> runtime)
      : environment_(std::move(environment)),
        runtime_(std::move(runtime)),
        mailbox_(std::make_shared<store::Mailbox>(runtime_)) {
    mailbox_->on_unwanted([](const LockName&, const OwnerId&, model::RequestId) {});
  }
  FileStore(const FileStore&) = delete;
  FileStore& operator=(const FileStore&) = delete;
  ~FileStore() override;

  Task<Result<Reply>> apply(Request request) override;
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) override;
  Task<Result<LockPage>> list(store::ListRequest request) override;
  Task<Result<std::vector<std::string>>> diagnose(runtime::LocalTime deadline) override;

  Result<void> supports(const model::LockSpec&) const override { return {}; }
  store::Capabilities capabilities() const override { return {.queues = true}; }
  std::string describe() const override { return environment_->describe(); }

 private:
  Result<Reply> apply_here(const Request& request);
  std::optional<Reply> look_here(const Request& request);
  Result<LockPage> list_here(const store::ListRequest& request);
  Result<Worker*> worker();

  const std::shared_ptr<Environment> environment_;
  const std::shared_ptr<runtime::Runtime> runtime_;
  const std::shared_ptr<store::Mailbox> mailbox_;
  std::mutex mutex_;
  std::unique_ptr<Worker> worker_;      // guarded by mutex_ until it is there
  std::unique_ptr<Listener> listener_;  // guarded by mutex_ until it is there
};

// A store that can be listed is there, and nobody is stuck inside.
Task<Result<std::vector<std::string>>> flawless_if(Task<Result<LockPage>> listing) {
  const Result<LockPage> page = co_await std::move(listing);
  if (!page) co_return std::unexpected(page.error());
  co_return std::vector<std::string>{};
}

FileStore::~FileStore() {
  if (!environment_->is_of_a_parent()) return;
  // A forked child has copies of these, but not their threads.
  [[maybe_unused]] const Worker* without_thread = worker_.release();
  [[maybe_unused]] const Listener* deaf = listener_.release();
}

Task<Result<Reply>> FileStore::apply(Request request) {
  if (auto allowed = model::admissible(request.command); !allowed) {
    return Task<Result<Reply>>(std::unexpected(std::move(allowed.error())));
  }
  if (!environment_->durable() && !runtime_->on_own_thread()) {
    return Task<Result<Reply>>(apply_here(request));
  }
  if (auto reply = look_here(request)) return Task<Result<Reply>>(std::move(*reply));
  auto thread = worker();
  if (!thread) return Task<Result<Reply>>(std::unexpected(std::move(thread.error())));
  return (*thread)->apply(std::move(request));
}

Result<Reply> FileStore::apply_here(const Request& request) {
  auto inside = environment_->enter(*runtime_, {request.deadline, request.stop});
  if (!inside) return std::unexpected(std::move(inside.error()));
  PendingStep step{.request = &request};
  PendingStep* const only = &step;
  environment_->run(std::move(*inside), {&only, 1});
  return std::move(step.reply);
}

// Most checks of a fence change nothing, and then there is no disk to wait for: asking another
// thread would take longer than the check. Nobody waits here for whoever is inside.
std::optional<Reply> FileStore::look_here(const Request& request) {
  const bool is_worth_a_look = std::holds_alternative<model::GuardCommand>(request.command);
  if (!is_worth_a_look) return std::nullopt;
  auto inside = environment_->enter_within(std::chrono::nanoseconds(0), *runtime_);
  if (!inside || !*inside) return std::nullopt;
  PendingStep step{.request = &request};
  if (!environment_->run_if_it_changes_nothing(std::move(**inside), step)) return std::nullopt;
  return std::move(*step.reply);
}

Result<std::unique_ptr<store::Listening>> FileStore::listen(const LockName&, const OwnerId&,
                                                            model::RequestId request) {
  if (environment_->is_of_a_parent()) {
    return environment_->failure(Errc::unavailable,
                                 "opened before fork(); open the store again in the child");
  }
  const std::lock_guard lock(mutex_);
  if (!listener_) {
    auto started = Listener::start(environment_, mailbox_, runtime_->random());
    if (!started) return std::unexpected(std::move(started.error()));
    listener_ = std::move(*started);
  }
  return mailbox_->listen(request, listener_->process());
}

Task<Result<LockPage>> FileStore::list(store::ListRequest request) {
  if (!runtime_->on_own_thread()) return Task<Result<LockPage>>(list_here(request));
  auto thread = worker();
  if (!thread) return Task<Result<LockPage>>(std::unexpected(std::move(thread.error())));
  return (*thread)->list(std::move(request));
}

Task<Result<std::vector<std::string>>> FileStore::diagnose(runtime::LocalTime deadline) {
  // Commands look only now and then.
  if (!environment_->is_of_a_parent() && environment_->is_deleted()) {
    return Task<Result<std::vector<std::string>>>(environment_->files_were_deleted());
  }
  return flawless_if(list({.limit = 1, .deadline = deadline}));
}

Result<LockPage> FileStore::list_here(const store::ListRequest& request) {
  auto inside = environment_->enter(*runtime_, {request.deadline, {}});
  if (!inside) return std::unexpected(std::move(inside.error()));
  return environment_->list(std::move(*inside), request);
}

Result<Worker*> FileStore::worker() {
  if (environment_->is_of_a_parent()) {
    return environment_->failure(Errc::unavailable,
                                 "opened before fork(); open the store again in the child");
  }
  const std::lock_guard lock(mutex_);
  if (worker_) return worker_.get();
  try {
    worker_ = std::make_unique<Worker>(environment_, runtime_);
  } catch (const std::system_error& failed) {
    return environment_->failure(Errc::unavailable,
                                 fmt::format("no thread could be started: {}", failed.what()));
  }
  return worker_.get();
}

}  // namespace

Result<std::shared_ptr<store::Store>> open_file_store(FileOptions options,
                                                      std::shared_ptr<runtime::Runtime> runtime) {
  if (options.path.empty()) {
    auto folder = default_folder();
    if (!folder) return std::unexpected(std::move(folder.error()));
    options.path = std::move(*folder);
  }
  auto environment =
      shared_environment({.path = std::move(options.path), .durable = options.durable}, *runtime);
  if (!environment) return std::unexpected(std::move(environment.error()));
  return make_file_store(std::move(*environment), std::move(runtime));
}

std::shared_ptr<store::Store> make_file_store(std::shared_ptr<Environment> environment,
                                              std::shared_ptr<runtime::Runtime> runtime) {
  return std::make_shared<FileStore>(std::move(environment), std::move(runtime));
}

}  // namespace holdfast::backends::file
