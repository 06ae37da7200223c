# SPDX-License-Identifier: Apache-2.0
# Compiles through ccache when it is installed and nobody chose another launcher.

find_program(HOLDFAST_CCACHE ccache)
mark_as_advanced(HOLDFAST_CCACHE)

if(PROJECT_IS_TOP_LEVEL AND HOLDFAST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness ccache refuses every file that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    "${HOLDFAST_CCACHE}")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  else()
    add_compile_options(-fpch-preprocess)
  endif()
endif()
