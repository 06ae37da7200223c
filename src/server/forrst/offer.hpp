// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/forrst/service.hpp>

#include <memory>

namespace holdfast::server {

class Services;

// The Forrst service of a server with the functions of its configuration. The services know the
// core of its locks, and outlive it. Errors: bad_input, with the function and the rule.
Result<std::shared_ptr<const forrst::Service>> offer_forrst(Services& services);

}  // namespace holdfast::server
