// SPDX-License-Identifier: Apache-2.0
//
// The parts that several messages have in common. Unlike the shapes for people in text/json.hpp
// these lose nothing: microseconds, and every field.
#pragma once

#include <holdfast/runs.hpp>

#include "backends/remote/json_reader.hpp"
#include "model/lock_state.hpp"

namespace holdfast::backends::remote {

using MetadataPtr = std::shared_ptr<const Metadata>;

boost::json::value metadata_json(const Metadata* metadata);
MetadataPtr read_metadata(JsonReader& reader, std::string_view name);

void write_kind(boost::json::object& out, Kind kind, Order order);
Kind read_kind(JsonReader& reader);
Order read_order(JsonReader& reader);

boost::json::object spec_json(const model::LockSpec& spec);
model::LockSpec read_spec(JsonReader& reader, std::string_view name);

boost::json::array holders_json(const std::vector<HolderView>& holders);
std::vector<HolderView> read_holders(JsonReader& reader, std::string_view name);
boost::json::object lock_json(const LockView& lock);
LockView read_lock(JsonReader& reader);

// The body in base64, since it may be anything.
boost::json::object answer_json(const Answer& answer);
// The default if there is none.
Answer read_answer(JsonReader& reader, std::string_view name);

}  // namespace holdfast::backends::remote
