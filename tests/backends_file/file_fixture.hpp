// SPDX-License-Identifier: Apache-2.0
//
// A store in a folder of its own, with a clock that may be moved by hand and short words for the
// commands.
#pragma once

#include "backends/file/environment.hpp"
#include "backends/file/file_store.hpp"
#include "backends/file/registry.hpp"
#include "runtime/spawn.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::test {

using namespace std::chrono_literals;
using backends::file::Environment;
using backends::file::EnvironmentOptions;
using StorePtr = std::shared_ptr<store::Store>;

inline constexpr std::string_view this_boot = "11111111-1111-1111-1111-111111111111";
inline constexpr std::string_view next_boot = "22222222-2222-2222-2222-222222222222";

// No thread: what is posted runs at once, where it is posted. Until time is moved by hand it is the
// machine's own.
class HandRuntime final : public runtime::Runtime {
 public:
  runtime::LocalTime now() const override {
    const auto by_hand = by_hand_.load();
    return by_hand == runtime::LocalTime{} ? runtime::LocalClock::now() : by_hand;
  }
  void post(runtime::Job job) override { job(); }
  runtime::TimerId schedule(runtime::LocalTime, runtime::Job) override {
    ADD_FAILURE() << "no test that moves time by hand waits for it";
    return runtime::TimerId::none;
  }
  bool cancel(runtime::TimerId) override { return false; }
  std::uint64_t random() override { return ++random_ * 0x9E3779B97F4A7C15; }
  bool on_own_thread() const override { return own_thread_; }

  void set(runtime::LocalTime to) { by_hand_ = to; }
  void pass(std::chrono::nanoseconds time) { by_hand_ = now() + time; }
  void pretend_to_be_the_own_thread() { own_thread_ = true; }

 private:
  std::atomic<runtime::LocalTime> by_hand_{};
  std::atomic<std::uint64_t> random_ = 0;
  bool own_thread_ = false;
};

// An empty folder of its own, gone with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "holdfast-test-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline OwnerId owner_of(std::string_view text) { return OwnerId::make(text).value(); }
inline LockName name_of(std::string_view text) { return LockName::make(text).value(); }

struct Ask {
  std::string_view name = "lock";
  std::string_view owner = "anna";
  std::uint64_t request = 1;
  Micros ttl = 10s;
  bool wait = false;
  model::ProcessId process{};
  std::chrono::milliseconds patience = 60s;
  std::stop_token stop{};
};

inline store::Request request_for(const Ask& ask, model::LockCommand command,
                                  const runtime::Runtime& runtime) {
  return {.name = name_of(ask.name),
          .command = std::move(command),
          .deadline = runtime.now() + ask.patience,
          .stop = ask.stop};
}

inline model::LockCommand acquire_command(const Ask& ask) {
  return {model::LockSpec::mutex(), model::Acquire{.owner = owner_of(ask.owner),
                                                   .request = model::RequestId{ask.request},
                                                   .ttl = ask.ttl,
                                                   .wait = ask.wait,
                                                   .process = ask.process}};
}

inline Result<model::LockOutcome> outcome_of(Result<store::Reply> reply) {
  if (!reply) return std::unexpected(std::move(reply.error()));
  return std::get<model::LockOutcome>(std::move(reply->outcome));
}

// One process' view of a store.
class Door {
 public:
  Door(StorePtr store, std::shared_ptr<runtime::Runtime> runtime)
      : store_(std::move(store)), runtime_(std::move(runtime)) {}

  Result<model::LockOutcome> acquire(const Ask& ask = {}) {
    return apply(ask, acquire_command(ask));
  }
  Result<model::LockOutcome> release(const Ask& ask = {}) {
    return apply(ask, {model::LockSpec::mutex(),
                       model::Release{owner_of(ask.owner), model::RequestId{ask.request}}});
  }
  Result<model::LockOutcome> renew(const Ask& ask = {}) {
    return apply(ask, {model::LockSpec::mutex(),
                       model::Renew{owner_of(ask.owner), model::RequestId{ask.request}, ask.ttl}});
  }
  Result<model::LockOutcome> inspect(const Ask& ask = {}) {
    return apply(ask, {model::LockSpec::mutex(), model::Inspect{}});
  }
  Result<std::vector<std::string>> diagnose() {
    return runtime::run_blocking(store_->diagnose(runtime_->now() + 60s));
  }
  Result<LockPage> list(store::ListRequest request = {}) {
    if (request.deadline == runtime::LocalTime{}) request.deadline = runtime_->now() + 60s;
    return runtime::run_blocking(store_->list(std::move(request)));
  }
  Result<model::LockOutcome> apply(const Ask& ask, model::LockCommand command) {
    auto request = request_for(ask, std::move(command), *runtime_);
    return outcome_of(runtime::run_blocking(store_->apply(std::move(request))));
  }

  store::Store& store() { return *store_; }

 private:
  StorePtr store_;
  std::shared_ptr<runtime::Runtime> runtime_;
};

// The fence of a grant; 0, and a failure, if it is none.
inline Fence fence_of(const Result<model::LockOutcome>& outcome) {
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message;
    return 0;
  }
  const auto* granted = std::get_if<model::Granted>(&*outcome);
  EXPECT_NE(granted, nullptr) << "the outcome is alternative " << outcome->index();
  return granted != nullptr ? granted->fence : 0;
}

template <typename Expected>
bool is(const Result<model::LockOutcome>& outcome) {
  if (!outcome) ADD_FAILURE() << outcome.error().message;
  return outcome && std::holds_alternative<Expected>(*outcome);
}

class FileStoreTest : public ::testing::Test {
 protected:
  Result<Door> open(EnvironmentOptions options = {}) {
    if (options.path.empty()) options.path = folder_.path();
    if (options.boot_id.empty()) options.boot_id = this_boot;
    auto environment = backends::file::shared_environment(std::move(options), *runtime_);
    if (!environment) return std::unexpected(std::move(environment.error()));
    return Door(backends::file::make_file_store(std::move(*environment), runtime_), runtime_);
  }
  Door must_open(EnvironmentOptions options = {}) {
    auto door = open(std::move(options));
    if (!door) ADD_FAILURE() << door.error().message;
    return std::move(*door);
  }

  TemporaryFolder folder_;
  std::shared_ptr<HandRuntime> runtime_ = std::make_shared<HandRuntime>();
};

}  // namespace holdfast::test
