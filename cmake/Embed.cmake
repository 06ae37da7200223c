# SPDX-License-Identifier: Apache-2.0
# holdfast_embed(OUT FOLDER EXTENSION): all files of the folder with that extension, as elements of a
# C++ array: {"name without extension", R"EXTENSION(text)EXTENSION"}. A changed file configures anew.

function(holdfast_embed out folder extension)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${folder}" "${folder}/*.${extension}")
  set(literals "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/${file}")
    file(READ "${folder}/${file}" text)
    string(REGEX REPLACE "\\.${extension}$" "" name "${file}")
    string(APPEND literals "    {\"${name}\", R\"${extension}(${text})${extension}\"},\n")
  endforeach()
  set(${out} "${literals}" PARENT_SCOPE)
endfunction()
