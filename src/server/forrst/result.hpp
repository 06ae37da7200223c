// SPDX-License-Identifier: Apache-2.0
//
// What came back from whoever did the work of a function.
#pragma once

#include <holdfast/forrst/function.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::server {

// Nothing but blanks is null. Nothing for what is no JSON, or too deep.
std::optional<boost::json::value> parse_result(std::string_view text);

// {"code": "OUT_OF_STOCK", "message": …, "details"?: {…}}, as the work may say why it failed.
std::optional<forrst::Fault> parse_fault(std::string_view text);

// Whether work that was told to stop was told so because of its deadline: the two are counted by
// different clocks, and the stop may come a moment before.
bool is_out_of_time(std::chrono::steady_clock::time_point deadline);

std::unexpected<forrst::Fault> failed(std::string_view code, std::string message,
                                      boost::json::object details = {});

}  // namespace holdfast::server
