// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace holdfast::simulation {

// A simulated client complains of every lock it could not give back; nobody wants to read that.
void keep_clients_quiet();

}  // namespace holdfast::simulation
