# SPDX-License-Identifier: Apache-2.0
# The language level, warnings, hardening and sanitizers of every target in this tree.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

# Option structs are filled with designated initialisers; the fields left out keep their defaults.
add_compile_options(-Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
if(HOLDFAST_WERROR)
  add_compile_options(-Werror)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 guesses these from optimised flow and is often wrong about std::string, std::optional and
  # coroutine frames. They stay visible, but do not stop a build.
  add_compile_options(-Wno-error=maybe-uninitialized -Wno-error=array-bounds
    -Wno-error=stringop-overflow -Wno-error=stringop-overread -Wno-restrict)
endif()

add_compile_definitions($<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

if(HOLDFAST_HARDENING)
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  add_link_options(-Wl,-z,relro,-z,now)
endif()

if(HOLDFAST_SANITIZE)
  add_compile_options(-fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HOLDFAST_SANITIZE})
  if(HOLDFAST_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan) # Asio uses atomic_thread_fence, which GCC's TSan cannot follow.
  endif()
endif()

# Tests are some sixty programs; these linkers take a tenth of the default one's time.
find_program(HOLDFAST_LINKER NAMES mold ld.lld)
mark_as_advanced(HOLDFAST_LINKER)
if(HOLDFAST_TESTS AND HOLDFAST_LINKER)
  string(REGEX REPLACE "^.*/(ld\\.)?" "" linker "${HOLDFAST_LINKER}")
  set(HOLDFAST_LINKER_FLAG "-fuse-ld=${linker}")
  add_link_options("${HOLDFAST_LINKER_FLAG}")
endif()
