# SPDX-License-Identifier: Apache-2.0
# Most of what compiling a file costs is reading its headers, so the files of a folder are compiled
# together. A file still includes what it uses: a build with -DHOLDFAST_UNITY=OFF (`make clang`)
# compiles each of them alone.

option(HOLDFAST_UNITY "Compile the files of a folder as one unit" ON)

if(HOLDFAST_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes every file but the one it was called with for a header.
  add_compile_options(-Wno-subobject-linkage)
endif()

# holdfast_unity(TARGET KIB SOURCE…): the sources of each folder as one unit, or as several of about
# KIB kibibytes. Those that skip it by SKIP_UNITY_BUILD_INCLUSION stay alone, and so do generated ones.
function(holdfast_unity target kib)
  if(NOT HOLDFAST_UNITY)
    return()
  endif()
  set(folders "")
  foreach(source IN LISTS ARGN)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    if(path MATCHES "^\\.\\.|^build/")
      continue()
    endif()
    cmake_path(GET path PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    # The client of Forrst and its server know different things under the same names.
    if(path MATCHES "^src/forrst/(client|transport)")
      string(APPEND folder "_client")
    endif()
    list(APPEND folders "${folder}")
    list(APPEND sources_${folder} "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    holdfast_unity_folder("${folder}" ${kib} ${sources_${folder}})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Fills one unit after the other, in the order of the names.
function(holdfast_unity_folder folder kib)
  set(total 0)
  set(sizes "")
  foreach(source IN LISTS ARGN)
    file(SIZE "${source}" size)
    list(APPEND sizes ${size})
    math(EXPR total "${total} + ${size}")
  endforeach()
  math(EXPR units "(${total} + ${kib} * 512) / (${kib} * 1024)")
  if(units LESS 1)
    set(units 1)
  endif()
  math(EXPR share "${total} / ${units} + 1")
  set(before 0)
  foreach(source size IN ZIP_LISTS ARGN sizes)
    math(EXPR unit "${before} / ${share} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${unit}")
    math(EXPR before "${before} + ${size}")
  endforeach()
endfunction()
