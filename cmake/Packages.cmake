# SPDX-License-Identifier: Apache-2.0
# cpack: the Debian packages holdfast and libholdfast-dev, one of each component that Install.cmake has.
# tools/build_packages calls it; docs/packages.md says what is in them.

set(HOLDFAST_PACKAGE_CONTACT "Holdfast maintainers <maintainers@holdfast.example.org>" CACHE STRING
  "Who answers for the packages: NAME <ADDRESS>")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME holdfast)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "${HOLDFAST_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)

# With DESTDIR, and not by another prefix: the unit is not below /usr, and names the program by its path.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# What only a package has: compressed pages, changelog, licence, configuration, examples.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake")
set(CPACK_HOLDFAST_SOURCE_DIR "${PROJECT_SOURCE_DIR}")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# For this release of the distribution, by whose libraries it is built.
cmake_host_system_information(RESULT holdfast_distribution QUERY DISTRIB_ID)
cmake_host_system_information(RESULT holdfast_distribution_version QUERY DISTRIB_VERSION_ID)
set(CPACK_DEBIAN_PACKAGE_RELEASE "1~${holdfast_distribution}${holdfast_distribution_version}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME holdfast)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "locks with a name, shared by processes and machines
Holdfast runs commands under locks that end by themselves when their holder
dies, and serves such locks over HTTP, with a dashboard. Every grant carries a
fence, a number that only grows, so that what the lock protects can refuse a
holder that comes too late. The locks live in files, in Redis or in Valkey.

This package has the program, its man pages and completions, a unit of systemd
that is not started by itself, a dashboard for Grafana and alerts for
Prometheus.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# For the service's user. Whoever wants the program alone, in a container, installs the second first.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS
  "systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "redis-server")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
  "${PROJECT_SOURCE_DIR}/packaging/debian/conffiles"
  "${PROJECT_SOURCE_DIR}/packaging/debian/postinst"
  "${PROJECT_SOURCE_DIR}/packaging/debian/prerm"
  "${PROJECT_SOURCE_DIR}/packaging/debian/postrm")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libholdfast-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "locks with a name, for programs in C++
Holdfast is locks that end by themselves when their holder dies, shared by
threads, processes and machines. Every grant carries a fence, a number that
only grows, so that what the lock protects can refuse a holder that comes too
late. The locks live in memory, in files, in Redis or in Valkey.

This package has the headers, the library as an archive, a CMake package, a
file for pkg-config, and examples.")
# What the archive is linked with: as in cmake/Dependencies.cmake.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libboost1.81-dev, libboost-json1.81-dev, libboost-url1.81-dev, liblmdb-dev, libfmt-dev, libspdlog-dev, libyaml-cpp-dev, libssl-dev, libhiredis-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "holdfast, cmake, pkg-config")

include(CPack)
