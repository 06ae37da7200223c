// SPDX-License-Identifier: Apache-2.0
#include "simulation/quiet.hpp"

#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace holdfast::simulation {

void keep_clients_quiet() {
  if (spdlog::get("holdfast")) return;
  spdlog::register_logger(std::make_shared<spdlog::logger>(
      "holdfast", std::make_shared<spdlog::sinks::null_sink_mt>()));
}

}  // namespace holdfast::simulation
