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

# CLI11 lives in its headers: wherever they are precompiled, a file that uses nothing of them still
# takes more than a second. So only those that name it get them.
foreach(source IN LISTS holdfast_cli_sources)
  file(STRINGS "${source}" names_cli11 REGEX "CLI::" LIMIT_COUNT 1)
  if(names_cli11)
    list(APPEND holdfast_cli11_sources "${source}")
  endif()
endforeach()
list(REMOVE_ITEM holdfast_cli_sources ${holdfast_cli11_sources})

add_library(holdfast_cli11 OBJECT ${holdfast_cli11_sources})
add_library(holdfast_cli STATIC ${holdfast_cli_sources} $<TARGET_OBJECTS:holdfast_cli11>)
foreach(target holdfast_cli11 holdfast_cli)
  target_compile_definitions(${target} PRIVATE HOLDFAST_VERSION="${PROJECT_VERSION}")
  target_include_directories(${target} PRIVATE "${HOLDFAST_GENERATED}")
  target_link_libraries(${target} PUBLIC holdfast_server CLI11::CLI11)
  target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/pch.hpp"
    <boost/json/object.hpp> <fmt/format.h>)
endforeach()
target_precompile_headers(holdfast_cli11 PRIVATE <CLI/CLI.hpp>)

add_executable(holdfast_bin "${PROJECT_SOURCE_DIR}/src/cli/main.cpp")
set_target_properties(holdfast_bin PROPERTIES OUTPUT_NAME holdfast)
target_include_directories(holdfast_bin PRIVATE "${PROJECT_SOURCE_DIR}/src")
install(TARGETS holdfast_bin)

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
