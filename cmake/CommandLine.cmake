# SPDX-License-Identifier: Apache-2.0
# holdfast_cli    everything in src/cli but main(), for the program and its tests
# holdfast_bin    the program `holdfast`
#
# A command that runs for a millisecond must not spend three of them on loading shared libraries:
# the program takes its own from archives, and only the C library is shared. fmt and spdlog come
# without archives, so src/cli/linked compiles what is needed of them.

find_package(CLI11 REQUIRED)

file(GLOB_RECURSE holdfast_cli_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/cli/*.cpp")
list(REMOVE_ITEM holdfast_cli_sources "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
list(FILTER holdfast_cli_sources EXCLUDE REGEX "/src/cli/linked/")

add_library(holdfast_cli STATIC ${holdfast_cli_sources})
target_compile_definitions(holdfast_cli PRIVATE HOLDFAST_VERSION="${PROJECT_VERSION}")
target_link_libraries(holdfast_cli PUBLIC holdfast_internal CLI11::CLI11)
target_precompile_headers(holdfast_cli PRIVATE "${PROJECT_SOURCE_DIR}/cmake/pch.hpp"
  <CLI/CLI.hpp> <boost/json/object.hpp> <fmt/format.h>)

add_executable(holdfast_bin "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
set_target_properties(holdfast_bin PROPERTIES OUTPUT_NAME holdfast)
target_link_libraries(holdfast_bin PRIVATE holdfast_cli)
install(TARGETS holdfast_bin)
