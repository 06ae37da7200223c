// SPDX-License-Identifier: Apache-2.0
#include "server/openapi/document.hpp"

#include "server/openapi/openapi_text.hpp"

#include <boost/json/parse.hpp>

namespace holdfast::server {

std::string_view openapi_json() { return openapi_text; }

const boost::json::object& openapi_document() {
  static const boost::json::value document =
      boost::json::parse({openapi_text.data(), openapi_text.size()});
  return document.get_object();
}

}  // namespace holdfast::server
