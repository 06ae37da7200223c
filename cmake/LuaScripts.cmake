# SPDX-License-Identifier: Apache-2.0
# The scripts of src/backends/redis/lua as string literals: backends/redis/lua_files.hpp.

set(lua_folder "${PROJECT_SOURCE_DIR}/src/backends/redis/lua")
file(GLOB_RECURSE lua_files CONFIGURE_DEPENDS RELATIVE "${lua_folder}" "${lua_folder}/*.lua")
set(lua_literals "")
foreach(file IN LISTS lua_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${lua_folder}/${file}")
  file(READ "${lua_folder}/${file}" text)
  string(REGEX REPLACE "\\.lua$" "" name "${file}")
  string(APPEND lua_literals "    {\"${name}\", R\"lua(${text})lua\"},\n")
endforeach()
configure_file(cmake/lua_files.hpp.in generated/backends/redis/lua_files.hpp @ONLY)
set(HOLDFAST_GENERATED "${CMAKE_CURRENT_BINARY_DIR}/generated")
