# SPDX-License-Identifier: Apache-2.0
# holdfast            the library users link: everything in src/ but the server, the command line and what only
#                     that needs (n8n: the generation of workflows, guard: the reverse proxy)
# holdfast_private    the same with its private headers

file(GLOB_RECURSE holdfast_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.cpp")
list(FILTER holdfast_sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/src/(cli|guard|n8n|server)/")

add_library(holdfast ${holdfast_sources})
add_library(holdfast::holdfast ALIAS holdfast)
set_target_properties(holdfast PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(holdfast PUBLIC cxx_std_23)
target_compile_definitions(holdfast PRIVATE ${HOLDFAST_DEFINITIONS})
target_include_directories(holdfast
  PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE
    "${PROJECT_SOURCE_DIR}/src"
    "${HOLDFAST_GENERATED}")
target_link_libraries(holdfast PRIVATE ${HOLDFAST_LINKS})
# The client of Forrst and its server know different things under the same names.
holdfast_unity(holdfast 80 SOURCES ${holdfast_sources}
  JOIN "src/(backends/memory|open|recipes|runtime|store)/" "src/forrst/(client|transport)")
if(NOT HOLDFAST_UNITY)
  target_precompile_headers(holdfast PRIVATE "${PROJECT_SOURCE_DIR}/cmake/pch.hpp"
    <holdfast/client.hpp> "${PROJECT_SOURCE_DIR}/src/client/core.hpp")
endif()

# Asio's own sources must see their macros first.
set_source_files_properties(
  "${PROJECT_SOURCE_DIR}/src/runtime/asio_impl.cpp"
  "${PROJECT_SOURCE_DIR}/src/net/resp/asio_ssl_impl.cpp"
  PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)

add_library(holdfast_private INTERFACE)
target_include_directories(holdfast_private INTERFACE "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(holdfast_private INTERFACE ${HOLDFAST_DEFINITIONS})
target_link_libraries(holdfast_private INTERFACE holdfast ${HOLDFAST_LINKS})
