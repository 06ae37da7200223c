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

# npm writes this file last, and every build folder shares it.
set(web_modules "${web_folder}/node_modules/.package-lock.json")
add_custom_command(OUTPUT "${web_modules}"
  COMMAND "${HOLDFAST_NPM}" ci --no-audit --no-fund --loglevel=error
  COMMAND "${CMAKE_COMMAND}" -E touch "${web_modules}"
  DEPENDS "${web_folder}/package.json" "${web_folder}/package-lock.json"
  WORKING_DIRECTORY "${web_folder}"
  COMMENT "Installing what the dashboard is built with" VERBATIM)

file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS "${web_folder}/src/*")
set(web_dist "${CMAKE_BINARY_DIR}/web")
add_custom_command(OUTPUT "${HOLDFAST_WEB_SOURCE}"
  COMMAND "${HOLDFAST_NODE}" node_modules/vite/bin/vite.js build --outDir "${web_dist}"
    --emptyOutDir --logLevel warn
  COMMAND "${Python3_EXECUTABLE}" "${embed_web}" "${web_dist}" "${HOLDFAST_WEB_SOURCE}"
  DEPENDS ${web_sources} "${web_modules}" "${embed_web}" "${web_folder}/index.html"
    "${web_folder}/vite.config.ts" "${web_folder}/tsconfig.json"
  WORKING_DIRECTORY "${web_folder}"
  COMMENT "Building the dashboard" VERBATIM)
