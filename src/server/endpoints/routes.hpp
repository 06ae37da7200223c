// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http/router.hpp"

namespace holdfast::server {

// Every route of the server, from the files of this folder.
const Router& all_routes();

}  // namespace holdfast::server
