# SPDX-License-Identifier: Apache-2.0
# The dashboard of web/, built by npm and compiled into the server: HOLDFAST_WEB_SOURCE is the C++ file.

option(HOLDFAST_WEB "Build the dashboard; it needs Node.js and npm" ON)

set(HOLDFAST_WEB_SOURCE "${HOLDFAST_GENERATED}/server/dashboard/files.cpp")
set(web_folder "${PROJECT_SOURCE_DIR}/web")
set(embed_web "${PROJECT_SOURCE_DIR}/cmake/embed_web.py")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(MAKE_DIRECTORY "${HOLDFAST_GENERATED}/server/dashboard")

if(NOT HOLDFAST_WEB)
  add_custom_command(OUTPUT "${HOLDFAST_WEB_SOURCE}"
    COMMAND "${Python3_EXECUTABLE}" "${embed_web}" "" "${HOLDFAST_WEB_SOURCE}"
    DEPENDS "${embed_web}" VERBATIM)
  return()
endif()

find_program(HOLDFAST_NPM npm)
find_program(HOLDFAST_NODE NAMES node nodejs)
if(NOT HOLDFAST_NPM OR NOT HOLDFAST_NODE)
  # Not here but where it is needed: the library has nothing to do with it.
  add_custom_command(OUTPUT "${HOLDFAST_WEB_SOURCE}"
    COMMAND "${CMAKE_COMMAND}" -E echo "the dashboard is built with Node.js and npm: install them \
(tools/install_packages web) and configure anew, or do without it (-DHOLDFAST_WEB=OFF)"
    COMMAND "${CMAKE_COMMAND}" -E false VERBATIM)
  return()
endif()

# Built once for all build folders, and only when something of it changed: the script looks at contents,
# not at times, so that a fresh checkout or a switched branch costs nothing.
set(build_web "${PROJECT_SOURCE_DIR}/cmake/build_web.py")
set(web_built "${PROJECT_SOURCE_DIR}/build/web")
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS "${web_folder}/src/*")
add_custom_command(OUTPUT "${HOLDFAST_WEB_SOURCE}"
  COMMAND "${Python3_EXECUTABLE}" "${build_web}" "${web_folder}" "${web_built}"
    "${HOLDFAST_NPM}" "${HOLDFAST_NODE}"
  COMMAND "${Python3_EXECUTABLE}" "${embed_web}" "${web_built}/pages" "${HOLDFAST_WEB_SOURCE}"
  DEPENDS ${web_sources} "${build_web}" "${embed_web}" "${web_folder}/index.html"
    "${web_folder}/vite.config.ts" "${web_folder}/tsconfig.json" "${web_folder}/package.json"
    "${web_folder}/package-lock.json"
  COMMENT "The dashboard" VERBATIM)
