# SPDX-License-Identifier: Apache-2.0
# The Code nodes of src/n8n/code as string literals: n8n/code_files.hpp.

set(n8n_code_folder "${PROJECT_SOURCE_DIR}/src/n8n/code")
file(GLOB_RECURSE n8n_code_files CONFIGURE_DEPENDS RELATIVE "${n8n_code_folder}"
  "${n8n_code_folder}/*.js")
set(n8n_code_literals "")
foreach(file IN LISTS n8n_code_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${n8n_code_folder}/${file}")
  file(READ "${n8n_code_folder}/${file}" text)
  string(REGEX REPLACE "\\.js$" "" name "${file}")
  string(APPEND n8n_code_literals "    {\"${name}\", R\"js(${text})js\"},\n")
endforeach()
configure_file(cmake/n8n_code_files.hpp.in generated/n8n/code_files.hpp @ONLY)
