# SPDX-License-Identifier: Apache-2.0
# The scripts of src/backends/redis/lua as string literals: backends/redis/lua_files.hpp.

include(cmake/Embed.cmake)
holdfast_embed(lua_literals "${PROJECT_SOURCE_DIR}/src/backends/redis/lua" lua)
configure_file(cmake/lua_files.hpp.in generated/backends/redis/lua_files.hpp @ONLY)
set(HOLDFAST_GENERATED "${CMAKE_CURRENT_BINARY_DIR}/generated")
