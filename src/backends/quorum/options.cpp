// SPDX-License-Identifier: Apache-2.0
#include "backends/quorum/options.hpp"

#include "text/duration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace holdfast::backends::quorum {

namespace {

using Given = std::optional<std::string>;

std::unexpected<Error> refuse(std::string_view option, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("store: option '{}' {}", option, rule));
}

template <typename Number>
std::optional<Number> number_in(const std::string& text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<void> set_drift(double& where, const Given& text) {
  if (!text) return {};
  const auto value = number_in<double>(*text);
  // Written so that "nan" is refused too.
  if (!value || !(*value >= min_drift && *value <= max_drift)) {
    return refuse("drift", fmt::format("must be a number from {} to {}", min_drift, max_drift));
  }
  where = *value;
  return {};
}

Result<void> set_time(Micros& where, std::string_view option, const Given& text, Micros least,
                      Micros most) {
  if (!text) return {};
  const auto parsed = text::parse_duration(*text);
  if (!parsed || *parsed < least || *parsed > most) {
    return refuse(option,
                  fmt::format("must be a duration from {} to {}", in_words(least), in_words(most)));
  }
  where = std::chrono::duration_cast<Micros>(*parsed);
  return {};
}

Result<void> set_retries(std::uint32_t& where, const Given& text) {
  if (!text) return {};
  const auto value = number_in<std::uint32_t>(*text);
  if (!value || *value > max_retries) {
    return refuse("retries", fmt::format("must be a number from 0 to {}", max_retries));
  }
  where = *value;
  return {};
}

Result<void> set_word(bool& where, std::string_view option, const Given& text,
                      std::string_view when_true, std::string_view when_false) {
  if (!text) return {};
  if (*text != when_true && *text != when_false) {
    return refuse(option, fmt::format("must be {} or {}", when_true, when_false));
  }
  where = *text == when_true;
  return {};
}

}  // namespace

std::string in_words(Micros time) {
  return text::format_duration(std::chrono::duration_cast<std::chrono::milliseconds>(time));
}

Result<Options> take_options(std::map<std::string, std::string, std::less<>>& options) {
  const auto take = [&](std::string_view option) -> Given {
    const auto found = options.find(option);
    if (found == options.end()) return std::nullopt;
    return std::move(options.extract(found).mapped());
  };
  Options out;
  Result<void> results[] = {
      set_drift(out.drift, take("drift")),
      set_time(out.timeout, "timeout", take("timeout"), min_member_timeout, max_member_timeout),
      set_time(out.retry_delay, "retry_delay", take("retry_delay"), 0ms, max_retry_delay),
      set_time(out.retry_jitter, "retry_jitter", take("retry_jitter"), 0ms, max_retry_delay),
      set_retries(out.retries, take("retries")),
      set_word(out.fences, "fence", take("fence"), "on", "off"),
      set_time(out.grace, "grace", take("grace"), 0ms, max_grace),
      set_word(out.allow_same_server, "same_server", take("same_server"), "allow", "refuse")};
  for (auto& result : results) {
    if (!result) return std::unexpected(std::move(result.error()));
  }
  return out;
}

}  // namespace holdfast::backends::quorum
