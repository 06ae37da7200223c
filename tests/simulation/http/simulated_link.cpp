// SPDX-License-Identifier: Apache-2.0
#include "simulation/http/simulated_link.hpp"

namespace holdfast::simulated {

namespace {

thread_local Network* network_of_this_thread = nullptr;

}  // namespace

void use(Network* network) { network_of_this_thread = network; }

std::shared_ptr<Link> make_link(runtime::Runtime& runtime) {
  return network_of_this_thread->make_link(runtime);
}

}  // namespace holdfast::simulated
