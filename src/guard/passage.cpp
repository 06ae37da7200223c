// SPDX-License-Identifier: Apache-2.0
#include "guard/passage.hpp"

#include "guard/forward.hpp"
#include "guard/problem.hpp"
#include "runtime/backoff.hpp"
#include "runtime/event.hpp"
#include "text/error_codes.hpp"

#include <boost/asio/post.hpp>

namespace holdfast::guard {

using net::http::Request;
using net::http::Response;

namespace {

Task<Response> done(Response response) { return Task<Response>(std::move(response)); }

Response answer(const Error& error) {
  return problem({text::http_status(error.code), std::string(to_string(error.code)),
                  "nothing was passed on: " + error.message});
}

constexpr runtime::Backoff between_checks{.first = std::chrono::milliseconds(5),
                                          .cap = std::chrono::milliseconds(200)};

// Whether asking again may bring an answer.
bool may_pass(Errc code) {
  return code == Errc::outcome_unknown || code == Errc::unavailable ||
         code == Errc::quorum_not_reached || code == Errc::not_replicated;
}

// A check that may have happened is repeated: the store remembers a fence that it has accepted, and
// accepts it again. As long as no answer comes the first outcome stays `unknown`, even if later
// attempts do not reach the store at all.
Task<Result<FenceCheck>> ask_again(std::shared_ptr<client::Core> core,
                                   recipes::FenceQuestion question, Error unknown,
                                   runtime::LocalTime give_up_at) {
  for (unsigned failures = 0;; ++failures) {
    const auto delay = next_delay(between_checks, failures, core->runtime().random());
    const auto next = core->runtime().now() + delay;
    if (next >= give_up_at) co_return std::unexpected(std::move(unknown));
    runtime::Event never(core->shared_runtime());
    co_await never.wait_until(next);
    auto asking = recipes::ask_fence(*core, question, {});
    Result<FenceCheck> check = co_await std::move(asking);
    if (check || !may_pass(check.error().code)) co_return check;
  }
}

Response too_old(const recipes::FenceQuestion& question, Fence newest) {
  return problem({412, "stale_fence", "a newer fence was seen: this holder is too late"},
                 {{"resource", question.resource.str()},
                  {"fence", question.command.fence},
                  {"newest", newest}});
}

}  // namespace

// Until nothing older of the resource is under way.
struct Passage::Turn {
  Errand& errand;
  Fence fence;
  boost::asio::io_context& context;
  Lanes::Entry entry = Lanes::Entry::goes;

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    entry = errand.place.enter(fence, [&context = context, handle] {
      boost::asio::post(context, [handle] { handle.resume(); });
    });
    return entry == Lanes::Entry::waits;
  }
  bool await_resume() const noexcept { return entry != Lanes::Entry::too_old; }
};

// A store may answer on a thread of its own.
struct Passage::BackOnThread {
  boost::asio::io_context& context;

  bool await_ready() const noexcept { return context.get_executor().running_in_this_thread(); }
  void await_suspend(std::coroutine_handle<> handle) const {
    boost::asio::post(context, [handle] { handle.resume(); });
  }
  void await_resume() const noexcept {}
};

Task<Response> Passage::handle(const Request& request) {
  auto fence = admit(options_, request);
  if (!fence) return done(problem(fence.error()));
  Errand errand{.bytes = {},
                .is_head = request.method == net::http::Method::head,
                .may_chunk = request.version >= 11,
                .is_fenced = fence->has_value(),
                .timeout = options_.upstream_timeout};
  if (!*fence) {
    errand.bytes = forwarded(options_, request);
    return exchange(pool_, std::move(errand));
  }
  auto resource = resource_of(options_.resource, request);
  if (!resource) return done(answer(resource.error()));
  auto question = recipes::make_fence_question(*resource, **fence, options_.keep);
  if (!question) return done(answer(question.error()));
  errand.place = lanes_.join(*resource);
  auto asking = recipes::ask_fence(*core_, *question, {});
  if (!asking.is_ready()) {
    errand.bytes = forwarded(options_, request);
    return ask_first(std::move(errand), std::move(*question), std::move(asking));
  }
  const auto check = asking.take_ready();
  if (!check) return done(answer(check.error()));
  if (!check->accepted) return done(too_old(*question, check->newest));
  errand.bytes = forwarded(options_, request);
  return take_turn(std::move(errand), std::move(*question));
}

Task<Response> Passage::ask_first(Errand errand, recipes::FenceQuestion question,
                                  Task<Result<FenceCheck>> asking) {
  const auto began = core_->runtime().now();
  Result<FenceCheck> check = co_await std::move(asking);
  if (!check && check.error().code == Errc::outcome_unknown) {
    auto repeating =
        ask_again(core_, question, std::move(check.error()), began + options_.check_timeout);
    check = co_await std::move(repeating);
  }
  BackOnThread back{pool_->context()};
  co_await back;
  if (!check) co_return answer(check.error());
  if (!check->accepted) co_return too_old(question, check->newest);
  auto turn = take_turn(std::move(errand), std::move(question));
  co_return co_await std::move(turn);
}

Task<Response> Passage::take_turn(Errand errand, recipes::FenceQuestion question) {
  Turn turn{errand, question.command.fence, pool_->context()};
  if (!co_await turn) co_return too_old(question, errand.place.newest());
  auto crossing = exchange(pool_, std::move(errand));
  co_return co_await std::move(crossing);
}

Response Passage::refuse(const net::http::RequestReader::Refusal& refusal, const net::http::Peer&) {
  return problem({refusal.status, std::string(refusal.code), std::string(refusal.message)});
}

}  // namespace holdfast::guard
