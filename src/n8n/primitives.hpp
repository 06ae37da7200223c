// SPDX-License-Identifier: Apache-2.0
//
// The four workflows that others call: two to lock, one to clean up after a failure, one to limit a
// rate. They share keys, payloads and messages with docs/n8n-workflows.md, which has their graphs.
#pragma once

#include <boost/json/value.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::n8n {

struct Primitive {
  std::string_view key;      // "lock_acquisition", also the name of its file
  std::string_view title;    // "Lock Acquisition", in the workflow's name
  std::string_view summary;  // half a sentence
};

std::span<const Primitive> all_primitives();
const Primitive* find_primitive(std::string_view key);

// Where the work is done.
struct Style {
  // By a Holdfast server at this URL; without one, by Redis nodes.
  std::optional<std::string> server;
  // The calls carry the credential credentials.holdfast of the environment file.
  bool has_server_credential = false;
  // The workflow has the id workflows.<key>.id of the environment file, by which others call it.
  bool has_id = false;
};

// With placeholders.
boost::json::value make_primitive(const Primitive& primitive, const Style& style);

}  // namespace holdfast::n8n
