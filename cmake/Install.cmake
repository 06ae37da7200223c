# SPDX-License-Identifier: Apache-2.0
# cmake --install: the headers, the library, a CMake package and a pkg-config file; for operators a unit of
# systemd, a dashboard and alerts.

include(CMakePackageConfigHelpers)
set(holdfast_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")

install(TARGETS holdfast EXPORT holdfastTargets)
install(DIRECTORY include/holdfast DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION "${holdfast_package_dir}")

# Only a static library leaves its dependencies for the user's link to find.
get_target_property(holdfast_type holdfast TYPE)
if(holdfast_type STREQUAL "STATIC_LIBRARY")
  set(HOLDFAST_IS_STATIC ON)
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
  DESTINATION "${holdfast_package_dir}")

# The file finds its prefix from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH HOLDFAST_PC_TO_PREFIX
  "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file(packaging/pkgconfig/holdfast.pc.in holdfast.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/holdfast.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# The unit names the program where it is installed, which only the installation knows.
install(CODE "
  get_filename_component(prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
  set(HOLDFAST_PROGRAM \"\${prefix}/${CMAKE_INSTALL_BINDIR}/holdfast\")
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/systemd/holdfast.service.in\"
    \"${CMAKE_CURRENT_BINARY_DIR}/holdfast.service\" @ONLY)")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/holdfast.service" DESTINATION lib/systemd/system)
install(FILES packaging/grafana/holdfast.json
  DESTINATION "${CMAKE_INSTALL_DATADIR}/holdfast/grafana")
install(FILES packaging/prometheus/alerts.yml
  DESTINATION "${CMAKE_INSTALL_DATADIR}/holdfast/prometheus")
