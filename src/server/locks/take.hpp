// SPDX-License-Identifier: Apache-2.0
//
// What the server does for most of its callers, under the name it has here.
#pragma once

#include "client/take.hpp"

namespace holdfast::server {

using client::Core;
using client::give_back;
using client::held;
using client::keep_renewed;
using client::NotTaken;
using client::take_at_once;
using client::take_now;
using client::take_waiting;
using client::Taken;
using client::TakeResult;

}  // namespace holdfast::server
