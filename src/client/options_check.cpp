// SPDX-License-Identifier: Apache-2.0
#include "client/options_check.hpp"

namespace holdfast::client {

Result<void> check_ttl(Duration ttl) {
  if (ttl >= min_ttl && ttl <= max_ttl) return {};
  return fail(Errc::bad_input, "ttl: must be between 20ms and 24h");
}

Result<void> check_wait(Duration wait) {
  if (wait >= Duration::zero() && wait <= max_wait) return {};
  return fail(Errc::bad_input, "wait: must be between 0 and 24h");
}

Result<void> check(const AcquireOptions& options) {
  if (auto good = check_ttl(options.ttl); !good) return good;
  if (auto good = check_wait(options.wait); !good) return good;
  const bool every_fits = options.renew_every == Duration::zero() ||
                          (options.renew_every >= std::chrono::milliseconds(1) &&
                           options.renew_every <= options.ttl / 2);
  if (!every_fits) {
    return fail(Errc::bad_input, "renew_every: must be 0 or between 1ms and half of the ttl");
  }
  if (options.max_hold != Duration::zero() && options.max_hold < options.ttl) {
    return fail(Errc::bad_input, "max_hold: must be 0 or at least the ttl");
  }
  return {};
}

}  // namespace holdfast::client
