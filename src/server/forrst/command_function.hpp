// SPDX-License-Identifier: Apache-2.0
//
// A function whose work a program does: the arguments as one line of JSON on its standard input,
// the result as JSON on its standard output.
#pragma once

#include <holdfast/forrst/function.hpp>

#include <string>
#include <vector>

namespace holdfast::server {

// `words` are the program and its arguments; no shell reads them. The program finds HOLDFAST_FENCE,
// HOLDFAST_NAME and HOLDFAST_OWNER of the lock it runs under, HOLDFAST_KEY and HOLDFAST_TOOK_OVER
// of the idempotency key, and HOLDFAST_REQUEST_ID in its environment. At the deadline, or when the
// work is of no use any more, it and all that it started get SIGTERM, and SIGKILL after
// command_grace. Returns when the program is gone.
//
// Where it ends with another code than 0 and has written a Forrst error, that is the error;
// otherwise it is INTERNAL_ERROR. Its standard error is for the log.
forrst::Handler command_function(std::vector<std::string> words);

}  // namespace holdfast::server
