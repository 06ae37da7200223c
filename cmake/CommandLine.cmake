# SPDX-License-Identifier: Apache-2.0
# holdfast_cli    everything in src/cli but main(), src/n8n and src/guard, for the program and its tests
# holdfast_bin    the program `holdfast`
#
# A command that runs for a millisecond must not spend five on loading shared libraries: the program
# takes its own from archives, and shares the C library alone. fmt and spdlog come without archives,
# so src/cli/linked compiles what is called of them.

option(HOLDFAST_STATIC_PROGRAM "Link the program with archives, so that it starts quickly" ON)

find_package(CLI11 REQUIRED)

file(GLOB_RECURSE holdfast_cli_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/cli/*.cpp" "${PROJECT_SOURCE_DIR}/src/n8n/*.cpp"
  "${PROJECT_SOURCE_DIR}/src/guard/*.cpp")
list(REMOVE_ITEM holdfast_cli_sources "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
list(FILTER holdfast_cli_sources EXCLUDE REGEX "/src/cli/linked/")

add_library(holdfast_cli STATIC ${holdfast_cli_sources})
target_compile_definitions(holdfast_cli PRIVATE HOLDFAST_VERSION="${PROJECT_VERSION}")
target_include_directories(holdfast_cli PRIVATE "${HOLDFAST_GENERATED}")
target_link_libraries(holdfast_cli PUBLIC holdfast_server PRIVATE CLI11::CLI11)
holdfast_unity(holdfast_cli 64 SOURCES ${holdfast_cli_sources}
  JOIN "src/cli/(completion|manual|process)/" "src/cli/(look|watch)/" "src/n8n/")
if(NOT HOLDFAST_UNITY)
  target_precompile_headers(holdfast_cli PRIVATE "${PROJECT_SOURCE_DIR}/cmake/pch.hpp"
    <boost/json/object.hpp>)
endif()

add_executable(holdfast_bin "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
set_target_properties(holdfast_bin PROPERTIES OUTPUT_NAME holdfast)
target_include_directories(holdfast_bin PRIVATE "${PROJECT_SOURCE_DIR}/src")
install(TARGETS holdfast_bin COMPONENT program)

if(NOT HOLDFAST_STATIC_PROGRAM OR HOLDFAST_SANITIZE OR BUILD_SHARED_LIBS)
  target_link_libraries(holdfast_bin PRIVATE holdfast_cli)
  return()
endif()

file(GLOB holdfast_linked_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/cli/linked/*.cpp")
target_sources(holdfast_bin PRIVATE ${holdfast_linked_sources})
target_compile_definitions(holdfast_bin PRIVATE SPDLOG_COMPILED_LIB SPDLOG_FMT_EXTERNAL)

foreach(name yaml-cpp boost_json boost_container boost_url lmdb hiredis ssl crypto)
  find_library(HOLDFAST_ARCHIVE_${name} NAMES lib${name}.a REQUIRED)
  list(APPEND holdfast_archives "${HOLDFAST_ARCHIVE_${name}}")
endforeach()

# By file, because the targets would bring their shared libraries along.
add_dependencies(holdfast_bin holdfast_cli holdfast_server holdfast)
target_link_libraries(holdfast_bin PRIVATE
  "$<TARGET_FILE:holdfast_cli>" "$<TARGET_FILE:holdfast_server>" "$<TARGET_FILE:holdfast>"
  ${holdfast_archives} Threads::Threads)
target_link_options(holdfast_bin PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
set_property(TARGET holdfast_bin APPEND PROPERTY LINK_DEPENDS
  "$<TARGET_FILE:holdfast_cli>;$<TARGET_FILE:holdfast_server>;$<TARGET_FILE:holdfast>")
