// SPDX-License-Identifier: Apache-2.0
#include "text/rate.hpp"

#include "model/rate_limit.hpp"
#include "text/ascii.hpp"
#include "text/duration.hpp"
#include "text/quote.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace holdfast::text {
namespace {

constexpr std::string_view rate_rule =
    "write a number of hits, a slash and a time (ms, s, m, h, d), such as 10/s or 100/5m";

std::unexpected<Error> refuse_rate(std::string_view text, std::string_view reason) {
  return fail(Errc::bad_input, fmt::format("rate {} {}; {}", quoted(text), reason, rate_rule));
}

std::optional<std::uint32_t> parse_limit(std::string_view digits) {
  std::uint32_t limit = 0;
  const auto* const end = digits.data() + digits.size();
  const auto [stopped, failure] = std::from_chars(digits.data(), end, limit);
  const bool fits = failure == std::errc() && stopped == end && limit <= max_rate_limit;
  return fits && limit > 0 ? std::optional(limit) : std::nullopt;
}

Result<RateAlgorithm> algorithm_of(const RuleWords& words, RateLayout layout) {
  if (!words.algorithm.empty()) {
    if (const auto known = parse_rate_algorithm(words.algorithm)) return *known;
    return fail(Errc::bad_input,
                fmt::format("algorithm: must be fixed_window, sliding_window or token_bucket; "
                            "got {}",
                            quoted(words.algorithm)));
  }
  if (layout != RateLayout::native) return RateAlgorithm::fixed_window;
  return words.burst != 0 ? RateAlgorithm::token_bucket : RateAlgorithm::sliding_window;
}

}  // namespace

Result<Rate> parse_rate(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return refuse_rate(text, "has no slash");
  const auto limit = parse_limit(text.substr(0, slash));
  if (!limit) {
    return refuse_rate(text,
                       fmt::format("does not begin with an integer from 1 to {}", max_rate_limit));
  }
  const auto time = text.substr(slash + 1);
  if (time.empty()) return refuse_rate(text, "has no time behind the slash");
  // "10/s" is short for "10/1s".
  const auto window =
      parse_duration(is_digit(time.front()) ? std::string(time) : fmt::format("1{}", time));
  if (!window) return refuse_rate(text, "does not end with a time");
  if (*window < min_rate_window || *window > max_rate_window) {
    return refuse_rate(text, "has a window that is not from 1ms to 31d");
  }
  return Rate{*limit, *window};
}

std::string format_rate(const RateRule& shown) {
  const auto window = format_duration(std::chrono::ceil<std::chrono::milliseconds>(shown.window));
  const bool is_one_unit = window.size() > 1 && window[0] == '1' && !is_digit(window[1]);
  return fmt::format("{}/{}", shown.limit, is_one_unit ? window.substr(1) : window);
}

Result<RateRule> make_rule(const Rate& rate, const RuleWords& words) {
  const auto layout = words.layout.empty() ? RateLayout::native : parse_rate_layout(words.layout);
  if (!layout) {
    return fail(Errc::bad_input,
                fmt::format("layout: must be native, n8n or redisx; got {}", quoted(words.layout)));
  }
  const auto algorithm = algorithm_of(words, *layout);
  if (!algorithm) return std::unexpected(algorithm.error());
  const RateRule made{.algorithm = *algorithm,
                      .limit = rate.limit,
                      .window = rate.window,
                      .burst = words.burst,
                      .layout = *layout};
  if (auto good = model::admissible(model::RateCommand{.rule = made}); !good) {
    return std::unexpected(std::move(good.error()));
  }
  return made;
}

boost::json::object to_json(std::string_view scope, const RateOutcome& outcome) {
  const auto ms = [](Duration time) {
    return std::chrono::ceil<std::chrono::milliseconds>(time).count();
  };
  return {{"scope", scope},
          {"allowed", outcome.allowed},
          {"count", outcome.count},
          {"limit", outcome.limit},
          {"remaining", outcome.remaining},
          {"retry_after_ms", ms(outcome.retry_after)},
          {"reset_ms", ms(outcome.reset_after)}};
}

}  // namespace holdfast::text
