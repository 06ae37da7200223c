# SPDX-License-Identifier: Apache-2.0
# What Debian wants of a package, and `make install` does not do. cpack runs it when the files of both
# components are in their folders.

cmake_minimum_required(VERSION 3.25)

set(source "${CPACK_HOLDFAST_SOURCE_DIR}")
set(version "${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH sets it
set(folder_mode OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(file_mode OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)

function(compress)
  foreach(file IN LISTS ARGN)
    execute_process(COMMAND gzip -9 --no-name --force "${file}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

function(put file folder name)
  file(MAKE_DIRECTORY "${folder}")
  configure_file("${file}" "${folder}/${name}" COPYONLY FILE_PERMISSIONS ${file_mode})
endfunction()

# The licence and both changelogs.
function(document root package)
  set(folder "${root}/usr/share/doc/${package}")
  put("${source}/packaging/debian/copyright" "${folder}" copyright)
  put("${source}/CHANGELOG.md" "${folder}" changelog)
  file(WRITE "${folder}/changelog.Debian" "holdfast (${version}) unstable; urgency=medium

  * Holdfast ${CPACK_PACKAGE_VERSION}. What changed is in changelog.gz.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(CHMOD "${folder}/changelog.Debian" PERMISSIONS ${file_mode})
  compress("${folder}/changelog" "${folder}/changelog.Debian")
endfunction()

set(program "${CPACK_TEMPORARY_DIRECTORY}/program")
document("${program}" holdfast)
file(GLOB pages "${program}/usr/share/man/man1/*.1")
compress(${pages})
put("${source}/packaging/debian/config.yml" "${program}/etc/holdfast" config.yml)
# zsh of Debian looks here, and in site-functions only below /usr/local.
file(MAKE_DIRECTORY "${program}/usr/share/zsh")
file(RENAME "${program}/usr/share/zsh/site-functions" "${program}/usr/share/zsh/vendor-completions")

set(development "${CPACK_TEMPORARY_DIRECTORY}/development")
document("${development}" libholdfast-dev)
file(COPY "${source}/examples" DESTINATION "${development}/usr/share/doc/libholdfast-dev"
  FILE_PERMISSIONS ${file_mode} DIRECTORY_PERMISSIONS ${folder_mode})

# file(MAKE_DIRECTORY) goes by the umask of whoever builds.
file(GLOB_RECURSE entries LIST_DIRECTORIES true "${program}/*" "${development}/*")
foreach(entry IN LISTS entries)
  if(IS_DIRECTORY "${entry}")
    file(CHMOD "${entry}" PERMISSIONS ${folder_mode})
  endif()
endforeach()
