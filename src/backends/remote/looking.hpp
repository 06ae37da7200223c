// SPDX-License-Identifier: Apache-2.0
//
// What changes nothing on a server.
#pragma once

#include "backends/remote/server.hpp"

namespace holdfast::backends::remote {

using ServerPtr = std::shared_ptr<Server>;

Task<Result<LockPage>> list_locks(ServerPtr server, store::ListRequest request);
Task<Result<std::vector<LockEvent>>> read_history(ServerPtr server, LockName name,
                                                  std::uint32_t limit, LocalTime deadline);
Task<Result<std::vector<std::string>>> look_for_trouble(ServerPtr server, LocalTime deadline);
Task<Result<Micros>> measure_clock_offset(ServerPtr server, LocalTime deadline);

}  // namespace holdfast::backends::remote
