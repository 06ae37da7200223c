# SPDX-License-Identifier: Apache-2.0
# holdfast_server    everything in src/server, for the program and its tests

include(cmake/OpenApi.cmake)
include(cmake/Web.cmake)

file(GLOB_RECURSE holdfast_server_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/server/*.cpp")

add_library(holdfast_server STATIC ${holdfast_server_sources} "${HOLDFAST_WEB_SOURCE}")
target_compile_definitions(holdfast_server PRIVATE HOLDFAST_VERSION="${PROJECT_VERSION}")
target_include_directories(holdfast_server PRIVATE "${HOLDFAST_GENERATED}")
target_link_libraries(holdfast_server PUBLIC holdfast_private)
holdfast_unity(holdfast_server 64 SOURCES ${holdfast_server_sources}
  JOIN "src/server/(audit|events|http)/" "src/server/(auth|dashboard|openapi)/"
    "src/server/(deadlock|locks|metrics|runs|sessions|watch)/"
    "src/server/endpoints/([a-z]+\\.|forrst|n8n|store)")
if(NOT HOLDFAST_UNITY)
  target_precompile_headers(holdfast_server PRIVATE "${PROJECT_SOURCE_DIR}/cmake/pch.hpp"
    <boost/json/object.hpp>)
endif()
