# SPDX-License-Identifier: Apache-2.0
# Man pages and completions, which the program writes itself.

set(holdfast_man "${PROJECT_BINARY_DIR}/man")
set(holdfast_completions "${PROJECT_BINARY_DIR}/completions")
file(MAKE_DIRECTORY "${holdfast_man}" "${holdfast_completions}")

add_custom_command(OUTPUT "${holdfast_man}/holdfast.1"
  COMMAND holdfast_bin man-pages "${holdfast_man}"
  DEPENDS holdfast_bin
  COMMENT "Writing the man pages" VERBATIM)
set(holdfast_scripts "")
foreach(shell bash zsh fish)
  set(script "${holdfast_completions}/holdfast.${shell}")
  add_custom_command(OUTPUT "${script}"
    COMMAND holdfast_bin completion ${shell} > "${script}"
    DEPENDS holdfast_bin
    COMMENT "Writing the completions for ${shell}" VERBATIM)
  list(APPEND holdfast_scripts "${script}")
endforeach()
add_custom_target(holdfast_manual ALL DEPENDS "${holdfast_man}/holdfast.1" ${holdfast_scripts})

# A build of the library alone has none of them, and can be installed all the same.
install(DIRECTORY "${holdfast_man}/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT program
  FILES_MATCHING PATTERN "*.1")
install(FILES "${holdfast_completions}/holdfast.bash" RENAME holdfast OPTIONAL
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT program)
install(FILES "${holdfast_completions}/holdfast.zsh" RENAME _holdfast OPTIONAL
  DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT program)
install(FILES "${holdfast_completions}/holdfast.fish" OPTIONAL
  DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" COMPONENT program)
