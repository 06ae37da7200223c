// SPDX-License-Identifier: Apache-2.0
#include <holdfast/forrst/fault.hpp>

#include <algorithm>

namespace holdfast::forrst {

namespace {

// Where pages of the protocol disagree: a deadline is 504, since the server gave up and not the
// client. A quota has no status of its own; it is no 429, which would promise a Retry-After.
constexpr CodeRow rows[] = {
    {codes::parse_error, false, 400, "protocol"},
    {codes::invalid_request, false, 400, "protocol"},
    {codes::invalid_protocol_version, false, 400, "protocol"},
    {"BATCH_FAILED", false, 400, "protocol"},
    {"BATCH_TOO_LARGE", false, 400, "protocol"},
    {"BATCH_TIMEOUT", true, 504, "protocol"},
    {codes::function_not_found, false, 404, "function"},
    {codes::version_not_found, false, 404, "function"},
    {codes::function_disabled, true, 503, "function"},
    {"FUNCTION_MAINTENANCE", true, 503, "function"},
    {codes::invalid_arguments, false, 400, "function"},
    {"SCHEMA_VALIDATION_FAILED", false, 422, "function"},
    {codes::extension_not_supported, false, 400, "extension"},
    {codes::extension_not_applicable, false, 400, "extension"},
    {codes::unauthorized, false, 401, "authentication"},
    {codes::forbidden, false, 403, "authentication"},
    {codes::not_found, false, 404, "resource"},
    {codes::conflict, false, 409, "resource"},
    {codes::gone, false, 410, "resource"},
    {codes::rate_limited, true, 429, "rate_limiting"},
    {"QUOTA_EXCEEDED", false, 400, "rate_limiting"},
    {codes::deadline_exceeded, true, 504, "server"},
    {codes::internal_error, true, 500, "server"},
    {codes::unavailable, true, 503, "server"},
    {codes::dependency_error, true, 502, "server"},
    {"SERVER_MAINTENANCE", true, 503, "server"},
    {codes::idempotency_conflict, false, 409, "idempotency"},
    {codes::idempotency_processing, true, 409, "idempotency"},
    {"ASYNC_OPERATION_NOT_FOUND", false, 404, "async"},
    {"ASYNC_OPERATION_FAILED", false, 500, "async"},
    {"ASYNC_CANNOT_CANCEL", false, 400, "async"},
    {"REPLAY_NOT_FOUND", false, 404, "replay"},
    {"REPLAY_EXPIRED", false, 410, "replay"},
    {"REPLAY_ALREADY_COMPLETE", false, 409, "replay"},
    {"REPLAY_CANCELLED", false, 410, "replay"},
    {"CANCELLED", false, 499, "cancellation"},
    {"CANCELLATION_TOKEN_UNKNOWN", false, 404, "cancellation"},
    {"CANCELLATION_TOO_LATE", false, 409, "cancellation"},
    {codes::lock_acquisition_failed, true, 423, "locking"},
    {codes::lock_timeout, true, 423, "locking"},
    {codes::lock_not_found, false, 404, "locking"},
    {codes::lock_ownership_mismatch, false, 403, "locking"},
    {codes::lock_already_released, false, 409, "locking"},
    {"SIMULATION_NOT_SUPPORTED", false, 400, "simulation"},
    {"SIMULATION_SCENARIO_NOT_FOUND", false, 404, "simulation"},
};

}  // namespace

std::span<const CodeRow> known_codes() { return rows; }

CodeRow row_of(std::string_view code) {
  const auto* const found = std::ranges::find(rows, code, &CodeRow::code);
  return found != std::end(rows) ? *found : CodeRow{code, false, 400, "custom"};
}

}  // namespace holdfast::forrst
