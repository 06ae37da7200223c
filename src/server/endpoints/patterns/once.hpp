// SPDX-License-Identifier: Apache-2.0
//
// A pattern under an Idempotency-Key: the whole operation happens once, and whoever asks again is
// told what came of it.
#pragma once

#include "server/endpoints/patterns/single.hpp"
#include "server/runs/idempotency_key.hpp"

namespace holdfast::server::patterns {

// Takes a place among those who wait, where the order says so, and performs the job.
Task<Response> run_job(Job job);

// The same once. From its begin on the job is no longer the client's: it goes on when the client
// leaves, and ends with the server.
Task<Response> run_once(OnceOrder once, Job job);

}  // namespace holdfast::server::patterns
