// SPDX-License-Identifier: Apache-2.0
//
// The state of a rate limit as bytes; the format is docs/state-format.md.
#include "model/bytes.hpp"
#include "model/rate_limit.hpp"

#include <fmt/format.h>

#include <cassert>

namespace holdfast::model {

namespace {

constexpr std::uint8_t rate_format = 1;
constexpr std::size_t rate_header_bytes = 26;
constexpr std::size_t hits_bytes = 12;
// Nobody comes that often, and one more does not overflow.
constexpr std::uint64_t max_count = std::uint64_t{1} << 63U;

void append_hits(const std::vector<RateState::Hits>& hits, std::string& out) {
  assert(hits.size() <= limits::max_rate_hits);
  FixedWriter<2>().put(static_cast<std::uint16_t>(hits.size())).append_to(out);
  for (const auto& each : hits) {
    FixedWriter<hits_bytes>().put(count_of(each.at)).put(each.count).append_to(out);
  }
}

// Notes the first thing that is wrong, and goes on with harmless values until somebody asks.
class RateDecoder {
 public:
  explicit RateDecoder(std::string_view bytes) : in_(bytes) {}

  Result<RateState> run() {
    RateState state;
    read_header(state);
    if (broken()) return failure();
    switch (state.algorithm) {
      case RateAlgorithm::fixed_window: read_window(state); break;
      case RateAlgorithm::sliding_window: read_hits(state); break;
      case RateAlgorithm::token_bucket: read_bucket(state); break;
    }
    if (in_.left() != 0) note("has bytes after its end");
    if (broken()) return failure();
    return state;
  }

 private:
  bool broken() const { return in_.failed() || problem_ != nullptr; }

  void note(const char* problem) {
    if (!broken()) problem_ = problem;
  }

  std::unexpected<Error> failure() const {
    const char* problem = problem_ != nullptr ? problem_ : "is cut short";
    return fail(Errc::unavailable, fmt::format("the stored rate limit {}", problem));
  }

  void read_header(RateState& state) {
    const auto format = in_.number<std::uint8_t>();
    if (format > rate_format) note("was written in a newer format than this version reads");
    if (format < rate_format) note("has no valid format number");
    state.algorithm = static_cast<RateAlgorithm>(in_.number<std::uint8_t>());
    const bool is_known = state.algorithm >= RateAlgorithm::fixed_window &&
                          state.algorithm <= RateAlgorithm::token_bucket;
    if (!is_known) note("has an unknown algorithm");
    state.seen = read_time();
    state.ahead = read_time().time_since_epoch();
    if (state.ahead < Micros::zero()) note("has a duration out of range");
    state.expires = read_time();
  }

  void read_window(RateState& state) {
    state.begin = read_time();
    state.count = in_.number<std::uint64_t>();
    if (state.count > max_count) note("has counted more than it can");
  }

  void read_hits(RateState& state) {
    const std::size_t count = in_.number<std::uint16_t>();
    if (count > limits::max_rate_hits) return note("has too many hits");
    // Checked before anything is allocated for them.
    if (count * hits_bytes > in_.left()) {
      return note("announces more hits than it has bytes for");
    }
    state.hits.reserve(count);
    for (std::size_t at = 0; at < count && !broken(); ++at) {
      const RateState::Hits hits{.at = read_time(), .count = in_.number<std::uint32_t>()};
      const bool ascends = state.hits.empty() || hits.at > state.hits.back().at;
      if (!ascends) note("has hits out of order");
      if (hits.count == 0) note("has a hit that is none");
      state.hits.push_back(hits);
    }
    if (!state.hits.empty() && state.hits.back().at > state.seen) {
      note("has hits that come after its last step");
    }
  }

  void read_bucket(RateState& state) {
    state.level = in_.number<std::uint64_t>();
    state.units = in_.number<std::uint64_t>();
    const bool fits =
        state.level <= limits::max_bucket_units && state.units <= limits::max_bucket_units;
    if (!fits) note("has a bucket that is too large");
    if (state.level > 0 && state.units == 0) note("has a bucket without units");
  }

  StoreTime read_time() {
    const auto us = in_.number<std::int64_t>();
    if (us < -max_time_us || us > max_time_us) note("has a time out of range");
    return StoreTime(Micros(us));
  }

  ByteReader in_;
  const char* problem_ = nullptr;
};

}  // namespace

void encode(const RateState& state, std::string& out) {
  out.clear();
  FixedWriter<rate_header_bytes>()
      .put(rate_format)
      .put(static_cast<std::uint8_t>(state.algorithm))
      .put(count_of(state.seen))
      .put(std::int64_t{state.ahead.count()})
      .put(count_of(state.expires))
      .append_to(out);
  switch (state.algorithm) {
    case RateAlgorithm::fixed_window:
      FixedWriter<16>().put(count_of(state.begin)).put(state.count).append_to(out);
      return;
    case RateAlgorithm::sliding_window: return append_hits(state.hits, out);
    case RateAlgorithm::token_bucket:
      FixedWriter<16>().put(state.level).put(state.units).append_to(out);
  }
}

Result<RateState> decode_rate(std::string_view bytes) { return RateDecoder(bytes).run(); }

}  // namespace holdfast::model
