// SPDX-License-Identifier: Apache-2.0
//
// A server that is stopped while a handler waits for a store that does not even keep deadlines.
#include "backends/memory/memory_store.hpp"
#include "client/core.hpp"
#include "runtime/event.hpp"
#include "server_fixture.hpp"

namespace holdfast::server {
namespace {

using namespace std::chrono_literals;

// Answers when it is let go, whatever the deadline.
class StuckStore final : public store::Store {
 public:
  explicit StuckStore(std::shared_ptr<runtime::Runtime> runtime)
      : runtime_(runtime), inner_(backends::memory::make_memory_store(std::move(runtime))) {}

  Task<Result<store::Reply>> apply(store::Request request) override {
    if (request.name.str() != "stuck") return inner_->apply(std::move(request));
    return wait_and_apply(inner_, go_, std::exchange(asked_, nullptr), std::move(request));
  }
  Result<std::unique_ptr<store::Listening>> listen(const LockName& name, const OwnerId& owner,
                                                   model::RequestId request) override {
    return inner_->listen(name, owner, request);
  }
  Task<Result<LockPage>> list(store::ListRequest request) override {
    return inner_->list(std::move(request));
  }
  Result<void> supports(const model::LockSpec& spec) const override {
    return inner_->supports(spec);
  }
  store::Capabilities capabilities() const override { return {}; }
  std::string describe() const override { return "stuck:"; }

  std::future<void> asked() { return asked_->get_future(); }
  void let_go() {
    runtime_->post([go = go_] { go->notify(); });
  }

 private:
  static Task<Result<store::Reply>> wait_and_apply(std::shared_ptr<store::Store> inner,
                                                   std::shared_ptr<runtime::Event> go,
                                                   std::shared_ptr<std::promise<void>> asked,
                                                   store::Request request) {
    if (asked) asked->set_value();
    co_await go->wait_until(runtime::LocalTime::max());
    auto applying = inner->apply(std::move(request));
    co_return co_await std::move(applying);
  }

  const std::shared_ptr<runtime::Runtime> runtime_;
  const std::shared_ptr<store::Store> inner_;
  const std::shared_ptr<runtime::Event> go_ = std::make_shared<runtime::Event>(runtime_);
  std::shared_ptr<std::promise<void>> asked_ = std::make_shared<std::promise<void>>();
};

TEST(ServerStop, frees_nothing_that_a_handler_still_uses) {
  const auto runtime = runtime::shared_runtime();
  const auto store = std::make_shared<StuckStore>(runtime);
  ServerOptions options;
  options.listen = {"127.0.0.1:0"};
  options.drain = 10ms;
  auto server = Server::start(options, client::make_core(store, runtime));
  ASSERT_TRUE(server) << server.error().message;
  const auto address = (*server)->addresses().front();
  auto asked = store->asked();
  auto asking = std::async(std::launch::async, [&] {
    test::HttpConnection connection(address);
    connection.send(test::request_text(
        {.method = "POST", .path = "/v1/locks/stuck/acquire", .body = R"({"ttl":"1h"})"}, address));
    return connection.receive().status;
  });
  asked.wait();
  server->reset();
  store->let_go();
  // It takes the lock, notes that, and finds nobody to answer.
  EXPECT_NE(asking.get(), 200);
  std::promise<void> behind;
  runtime->post([&] { behind.set_value(); });
  behind.get_future().wait();
}

}  // namespace
}  // namespace holdfast::server
