# SPDX-License-Identifier: Apache-2.0
# src/server/openapi/openapi.json as a string literal: server/openapi/openapi_text.hpp.

set(openapi_file "${PROJECT_SOURCE_DIR}/src/server/openapi/openapi.json")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${openapi_file}")
file(READ "${openapi_file}" openapi_text)
string(REPLACE "@PROJECT_VERSION@" "${PROJECT_VERSION}" openapi_text "${openapi_text}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/openapi_text.hpp.in"
  generated/server/openapi/openapi_text.hpp @ONLY)
