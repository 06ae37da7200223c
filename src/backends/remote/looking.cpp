// SPDX-License-Identifier: Apache-2.0
#include "backends/remote/looking.hpp"

#include <boost/json/array.hpp>
#include <fmt/format.h>

namespace holdfast::backends::remote {

namespace json = boost::json;

Task<Result<LockPage>> list_locks(ServerPtr server, store::ListRequest request) {
  auto target = fmt::format("/v1/store/list?prefix={}&cursor={}&limit={}&machine={}",
                            percent_encoded(request.prefix), percent_encoded(request.cursor),
                            request.limit, static_cast<unsigned>(request.machine));
  auto asking = server->get(std::move(target), request.deadline);
  const Result<json::object> answer = co_await std::move(asking);
  if (!answer) co_return std::unexpected(answer.error());
  co_return parse_page(*answer);
}

Task<Result<std::vector<LockEvent>>> read_history(ServerPtr server, LockName name,
                                                  std::uint32_t limit, LocalTime deadline) {
  auto target =
      fmt::format("/v1/store/history?name={}&limit={}", percent_encoded(name.str()), limit);
  auto asking = server->get(std::move(target), deadline);
  const Result<json::object> answer = co_await std::move(asking);
  if (!answer) co_return std::unexpected(answer.error());
  co_return parse_events(*answer);
}

Task<Result<std::vector<std::string>>> look_for_trouble(ServerPtr server, LocalTime deadline) {
  auto asking = server->get("/v1/store/diagnose", deadline);
  const Result<json::object> answer = co_await std::move(asking);
  if (!answer) co_return std::unexpected(answer.error());
  std::vector<std::string> sentences;
  const auto* all = answer->if_contains("sentences");
  if (all == nullptr || !all->is_array()) co_return sentences;
  for (const auto& each : all->get_array()) {
    if (each.is_string()) sentences.emplace_back(each.get_string());
  }
  co_return sentences;
}

Task<Result<Micros>> measure_clock_offset(ServerPtr server, LocalTime deadline) {
  const auto wall_now = [] {
    return std::chrono::floor<Micros>(std::chrono::system_clock::now().time_since_epoch());
  };
  const Micros before = wall_now();
  auto asking = server->info(deadline);
  const Result<Info> info = co_await std::move(asking);
  if (!info) co_return std::unexpected(info.error());
  const Micros between = before + (wall_now() - before) / 2;
  co_return Micros(static_cast<std::int64_t>(info->wall_us)) - between;
}

}  // namespace holdfast::backends::remote
