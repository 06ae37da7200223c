// SPDX-License-Identifier: Apache-2.0
//
// What a request may say, and what it means: names, defaults and bounds. Asks no store.
#include "model/utf8.hpp"
#include "recipes/n8n.hpp"
#include "runtime/uuid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::n8n {

namespace {

constexpr std::string_view lock_prefix = "n8n-lock-";
constexpr std::string_view meta_suffix = ":meta";
constexpr std::string_view dialect = "counter";

std::unexpected<Error> refuse(std::string_view field, std::string_view rule) {
  return fail(Errc::bad_input, fmt::format("{}: {}", field, rule));
}

// The keys are text that other programs print.
bool is_shown(std::string_view text) {
  if (model::is_printable_ascii(text)) return true;
  while (!text.empty()) {
    const auto first = model::first_code_point(text);
    if (first.bytes == 0 || first.value < 0x20 || first.value == 0x7f) return false;
    text.remove_prefix(first.bytes);
  }
  return true;
}

Result<void> check_field(std::string_view name, std::string& value) {
  if (value.size() > max_field_bytes) {
    return refuse(name,
                  fmt::format("must have at most {} bytes; got {}", max_field_bytes, value.size()));
  }
  if (!is_shown(value)) return refuse(name, "must be UTF-8 text without control characters");
  if (value.empty()) value = nobody;
  return {};
}

Result<void> check_seconds(std::string_view name, std::int64_t value, std::int64_t least) {
  if (value >= least && value <= default_seconds) return {};
  return refuse(
      name, fmt::format("must be from {} to {} seconds; got {}", least, default_seconds, value));
}

bool is_redis(std::string_view url) {
  return url.starts_with("redis:") || url.starts_with("rediss:");
}

bool says_which_keys(std::string_view option) {
  constexpr std::array names{"dialect=", "profile=", "prefix=", "template="};
  return std::ranges::any_of(names, [&](auto name) { return option.starts_with(name); });
}

}  // namespace

std::string store_url(std::string_view url) {
  if (!is_redis(url)) return std::string(url);
  const auto query = url.find('?');
  std::string out(url.substr(0, query));
  std::string kept;
  auto rest = query == std::string_view::npos ? std::string_view() : url.substr(query + 1);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    const auto option = rest.substr(0, end);
    if (!option.empty() && !says_which_keys(option)) kept += fmt::format("{}&", option);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fmt::format("{}?{}dialect={}", out, kept, dialect);
}

std::string lock_key(std::string_view scope) { return fmt::format("{}{}", lock_prefix, scope); }

Result<void> check_scope(std::string_view scope) {
  if (scope.empty() || scope.size() > max_scope_bytes) {
    return refuse("scope",
                  fmt::format("must have 1 to {} bytes; got {}", max_scope_bytes, scope.size()));
  }
  // Its counter would be the text of another one.
  if (scope.ends_with(meta_suffix)) {
    return refuse("scope", "must not end in ':meta', which is what n8n calls another key");
  }
  auto key = LockName::make(lock_key(scope));
  if (!key) return refuse("scope", key.error().message);
  return {};
}

std::string_view name_prefix(const Core& core) {
  return core.store().capabilities().dialect == dialect ? std::string_view() : lock_prefix;
}

Result<LockName> lock_name(const Core& core, std::string_view scope) {
  if (auto good = check_scope(scope); !good) return std::unexpected(std::move(good.error()));
  return LockName::make(fmt::format("{}{}", name_prefix(core), scope));
}

Result<LockRequest> completed(Core& core, LockRequest request) {
  if (auto name = lock_name(core, request.scope); !name) {
    return std::unexpected(std::move(name.error()));
  }
  if (auto good = check_seconds("ttl_seconds", request.ttl_seconds, 1); !good) {
    return std::unexpected(std::move(good.error()));
  }
  if (auto good = check_seconds("max_wait_seconds", request.max_wait_seconds, 0); !good) {
    return std::unexpected(std::move(good.error()));
  }
  for (auto [name, field] : {std::pair("execution_id", &request.execution_id),
                             std::pair("workflow_id", &request.workflow_id),
                             std::pair("workflow_name", &request.workflow_name)}) {
    if (auto good = check_field(name, *field); !good) {
      return std::unexpected(std::move(good.error()));
    }
  }
  if (request.lock_id.empty()) request.lock_id = runtime::fresh_uuid(core.runtime());
  if (auto owner = OwnerId::make(request.lock_id); !owner) {
    return refuse("lock_id", owner.error().message);
  }
  return request;
}

Result<client::Wanted> wanted(Core& core, const LockRequest& completed) {
  auto name = lock_name(core, completed.scope);
  if (!name) return std::unexpected(std::move(name.error()));
  const auto spec = model::LockSpec::mutex();
  if (auto good = core.store().supports(spec); !good) {
    return std::unexpected(std::move(good.error()));
  }
  auto metadata = std::make_shared<Metadata>();
  metadata->source = completed.execution_id;
  metadata->note = completed.workflow_name;
  metadata->value = completed.workflow_id;
  const auto wait = completed.wait_till_lock_released ? completed.max_wait_seconds : 0;
  return client::Wanted{.name = std::move(*name),
                        .spec = spec,
                        .owner = *OwnerId::make(completed.lock_id),
                        .request = core.fresh_request(),
                        .ttl = std::chrono::seconds(completed.ttl_seconds),
                        .wait = std::chrono::seconds(wait),
                        .metadata = std::move(metadata)};
}

Result<model::RateCommand> rate_command(const RateRequest& request) {
  constexpr auto longest = std::chrono::duration_cast<std::chrono::seconds>(max_rate_window);
  if (request.window_seconds < 1 || request.window_seconds > longest.count()) {
    return refuse("windowSeconds", fmt::format("must be from 1 to {}; got {}", longest.count(),
                                               request.window_seconds));
  }
  model::RateCommand command{.rule = {.algorithm = RateAlgorithm::fixed_window,
                                      .limit = request.limit,
                                      .window = std::chrono::seconds(request.window_seconds),
                                      .layout = RateLayout::n8n}};
  if (auto good = model::admissible(command); !good) {
    return std::unexpected(std::move(good.error()));
  }
  if (auto name = model::limit_name(request.scope, command.rule); !name) {
    return std::unexpected(std::move(name.error()));
  }
  return command;
}

}  // namespace holdfast::n8n
