# SPDX-License-Identifier: Apache-2.0
# holdfast_internal    library, server and command line with their private headers, for tests and
#                      benchmarks only
#
# Forty test programs would each carry a copy of everything, so in debug builds they share one
# library. What is measured is linked as users link it: optimised builds take the archives.

if(NOT HOLDFAST_TESTS OR BUILD_SHARED_LIBS OR NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_library(holdfast_internal INTERFACE)
  target_link_libraries(holdfast_internal INTERFACE holdfast_cli)
  return()
endif()

add_library(holdfast_internal SHARED
  $<TARGET_OBJECTS:holdfast> $<TARGET_OBJECTS:holdfast_server> $<TARGET_OBJECTS:holdfast_cli>)
set_target_properties(holdfast_internal PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(holdfast_internal PUBLIC
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_compile_definitions(holdfast_internal PUBLIC ${HOLDFAST_DEFINITIONS})
target_link_libraries(holdfast_internal PUBLIC ${HOLDFAST_LINKS})
