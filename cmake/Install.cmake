# SPDX-License-Identifier: Apache-2.0
# cmake --install, in two components:
#   program       the program with its man pages and completions; for operators a unit of systemd with its
#                 user, a dashboard and alerts
#   development   the headers, the library, a CMake package and a pkg-config file

include(CMakePackageConfigHelpers)
set(holdfast_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")

install(TARGETS holdfast EXPORT holdfastTargets
  RUNTIME COMPONENT program LIBRARY COMPONENT development ARCHIVE COMPONENT development)
install(DIRECTORY include/holdfast DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
  FILES_MATCHING PATTERN "*.hpp")
# In a component of its own: packages have their own file for it.
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT licence)
install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION "${holdfast_package_dir}"
  COMPONENT development)

# Only a static library leaves its dependencies for the user's link to find.
get_target_property(holdfast_type holdfast TYPE)
if(holdfast_type STREQUAL "STATIC_LIBRARY")
  set(HOLDFAST_IS_STATIC ON)
  # --strip leaves archives as they are, and this one is mostly debug information.
  find_program(HOLDFAST_STRIP NAMES "${CMAKE_STRIP}" strip)
  install(CODE "
    if(CMAKE_INSTALL_DO_STRIP)
      execute_process(COMMAND \"${HOLDFAST_STRIP}\" --strip-debug --enable-deterministic-archives
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:holdfast>\"
        COMMAND_ERROR_IS_FATAL ANY)
    endif()" COMPONENT development)
else()
  set(HOLDFAST_IS_STATIC OFF)
endif()

configure_package_config_file(cmake/holdfastConfig.cmake.in holdfastConfig.cmake
  INSTALL_DESTINATION "${holdfast_package_dir}")
write_basic_package_version_file(holdfastConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES
    "${CMAKE_CURRENT_BINARY_DIR}/holdfastConfig.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/holdfastConfigVersion.cmake"
    cmake/FindHiredis.cmake
    cmake/FindLMDB.cmake
  DESTINATION "${holdfast_package_dir}" COMPONENT development)

# The file finds its prefix from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH HOLDFAST_PC_TO_PREFIX
  "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file(packaging/pkgconfig/holdfast.pc.in holdfast.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/holdfast.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

# The unit names the program where it is installed, which only the installation knows. It is written to
# its place at once: two installations may run at the same time. Debian has the units of /usr in /lib.
install(CODE "
  get_filename_component(prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
  set(HOLDFAST_PROGRAM \"\${prefix}/${CMAKE_INSTALL_BINDIR}/holdfast\")
  string(REGEX REPLACE \"^/usr$\" \"\" above_lib \"\${prefix}\")
  set(unit \"\$ENV{DESTDIR}\${above_lib}/lib/systemd/system/holdfast.service\")
  message(STATUS \"Installing: \${unit}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/systemd/holdfast.service.in\" \"\${unit}\" @ONLY)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${above_lib}/lib/systemd/system/holdfast.service\")"
  COMPONENT program)
install(FILES packaging/systemd/holdfast.sysusers RENAME holdfast.conf DESTINATION lib/sysusers.d
  COMPONENT program)
install(FILES packaging/grafana/holdfast.json
  DESTINATION "${CMAKE_INSTALL_DATADIR}/holdfast/grafana" COMPONENT program)
install(FILES packaging/prometheus/alerts.yml
  DESTINATION "${CMAKE_INSTALL_DATADIR}/holdfast/prometheus" COMPONENT program)

if(PROJECT_IS_TOP_LEVEL)
  include(cmake/Packages.cmake)
endif()
