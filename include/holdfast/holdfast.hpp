// SPDX-License-Identifier: Apache-2.0
//
// Everything a program needs. The Asio adapter is separate: holdfast/asio/awaitable.hpp.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>
#include <holdfast/fence_guard.hpp>
#include <holdfast/fence_sql.hpp>
#include <holdfast/idempotency.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/locked.hpp>
#include <holdfast/locks.hpp>
#include <holdfast/metrics.hpp>
#include <holdfast/names.hpp>
#include <holdfast/options.hpp>
#include <holdfast/rate_limit.hpp>
#include <holdfast/rates.hpp>
#include <holdfast/runs.hpp>
#include <holdfast/task.hpp>
#include <holdfast/tracing.hpp>
#include <holdfast/view.hpp>
