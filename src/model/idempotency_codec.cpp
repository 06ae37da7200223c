// SPDX-License-Identifier: Apache-2.0
//
// The record of a run as bytes; the format is docs/state-format.md.
#include "model/bytes.hpp"
#include "model/idempotency.hpp"

#include <fmt/format.h>

namespace holdfast::model {

namespace {

constexpr std::uint8_t run_format = 1;

void append_body(std::string_view body, std::string& out) {
  FixedWriter<4>().put(static_cast<std::uint32_t>(body.size())).append_to(out);
  out.append(body);
}

// Notes the first thing that is wrong, and goes on with harmless values until somebody asks.
class RunDecoder {
 public:
  explicit RunDecoder(std::string_view bytes) : in_(bytes) {}

  Result<RunState> run() {
    RunState state;
    const auto format = in_.number<std::uint8_t>();
    if (format > run_format) note("was written in a newer format than this version reads");
    if (format < run_format) note("has no valid format number");
    const auto status = in_.number<std::uint8_t>();
    if (status < 1 || status > 3) note("has an unknown status");
    state.status = static_cast<RunState::Status>(status);
    const auto took_over = in_.number<std::uint8_t>();
    if (took_over > 1) note("has a flag that is neither yes nor no");
    state.took_over = took_over == 1;
    read_numbers(state);
    state.owner = text("an owner that is", max_owner_bytes);
    if (state.owner.empty()) note("has no owner");
    state.fingerprint = text("a fingerprint that is", max_fingerprint_bytes);
    state.answer.headers = text("headers that are", max_answer_header_bytes);
    state.failure = text("a failure that is", max_failure_bytes);
    state.answer.body = body();
    if (in_.left() != 0) note("has bytes after its end");
    if (in_.failed() && problem_.empty()) problem_ = "is cut short";
    if (!problem_.empty()) {
      return fail(Errc::unavailable, fmt::format("the stored run {}", problem_));
    }
    return state;
  }

 private:
  void note(std::string problem) {
    if (!in_.failed() && problem_.empty()) problem_ = std::move(problem);
  }

  void read_numbers(RunState& state) {
    state.answer.status = in_.number<std::uint16_t>();
    if (state.answer.status < 100 || state.answer.status > 599) note("has a status out of range");
    state.fence = in_.number<std::uint64_t>();
    state.guard = time().time_since_epoch();
    if (state.guard < Micros::zero()) note("has a duration out of range");
    state.guarded_until = time();
    state.expires = time();
    const bool is_running = state.status == RunState::Status::running;
    if (is_running && state.expires < state.guarded_until) note("ends before its guard");
  }

  StoreTime time() {
    const auto us = in_.number<std::int64_t>();
    if (us < -max_time_us || us > max_time_us) note("has a time out of range");
    return StoreTime(Micros(us));
  }

  std::string text(std::string_view what, std::size_t max) {
    const auto found = in_.text();
    if (found.size() > max) note(fmt::format("has {} too long", what));
    return std::string(found);
  }

  // It is the last: what it announces must be all that is left.
  std::string body() {
    const auto size = in_.number<std::uint32_t>();
    if (size > max_answer_bytes) note("has a result that is too long");
    if (size > in_.left()) note("announces a longer result than it has bytes for");
    if (!problem_.empty()) return {};
    return std::string(in_.bytes(size));
  }

  ByteReader in_;
  std::string problem_;
};

}  // namespace

void encode(const RunState& state, std::string& out) {
  out.clear();
  FixedWriter<37>()
      .put(run_format)
      .put(static_cast<std::uint8_t>(state.status))
      .put(std::uint8_t{state.took_over})
      .put(state.answer.status)
      .put(state.fence)
      .put(std::int64_t{state.guard.count()})
      .put(count_of(state.guarded_until))
      .put(count_of(state.expires))
      .append_to(out);
  append_text(state.owner, out);
  append_text(state.fingerprint, out);
  append_text(state.answer.headers, out);
  append_text(state.failure, out);
  append_body(state.answer.body, out);
}

Result<RunState> decode_run(std::string_view bytes) { return RunDecoder(bytes).run(); }

}  // namespace holdfast::model
