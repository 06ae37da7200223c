# SPDX-License-Identifier: Apache-2.0
# fuzz_<target>    one program for each fuzz/<target>.cpp, made by clang's libFuzzer
#
# Only the sources a target is about are compiled for it, with sanitizers; everything else comes from
# the library as it was built. `make fuzz` runs them for long, the tests for a few seconds each.

find_program(HOLDFAST_FUZZ_CXX clang++-19)
mark_as_advanced(HOLDFAST_FUZZ_CXX)
if(HOLDFAST_FUZZ_CXX)
  execute_process(COMMAND "${HOLDFAST_FUZZ_CXX}" --print-resource-dir
    OUTPUT_VARIABLE fuzz_resources OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(GLOB fuzz_runtime "${fuzz_resources}/lib/*/libclang_rt.fuzzer*")
endif()
if(NOT HOLDFAST_FUZZ_CXX OR NOT fuzz_runtime)
  message(STATUS "no fuzzing: clang++-19 or its libFuzzer is missing")
  return()
endif()

set(fuzz_folder "${PROJECT_BINARY_DIR}/fuzz")
file(MAKE_DIRECTORY "${fuzz_folder}")
list(TRANSFORM HOLDFAST_DEFINITIONS PREPEND "-D" OUTPUT_VARIABLE fuzz_definitions)
# object-size takes reverse iterators over a constant array for a mistake.
set(fuzz_flags -std=c++23 -O1 -g1 -fno-omit-frame-pointer -fno-sanitize-recover=all
  -fsanitize=fuzzer,address,undefined -fno-sanitize=object-size ${fuzz_definitions}
  "-I${PROJECT_SOURCE_DIR}/src" "-I${PROJECT_SOURCE_DIR}/include")

# holdfast_fuzz(TARGET SOURCE…): the sources below src/ that inputs of this target run through.
function(holdfast_fuzz target)
  set(objects "")
  foreach(source fuzz/${target}.cpp ${ARGN})
    string(REPLACE "/" "_" object "${source}.o")
    set(object "${fuzz_folder}/${object}")
    list(APPEND objects "${object}")
    get_property(is_made GLOBAL PROPERTY "holdfast_fuzz_${object}")
    if(is_made)
      continue()
    endif()
    set_property(GLOBAL PROPERTY "holdfast_fuzz_${object}" TRUE)
    add_custom_command(OUTPUT "${object}"
      COMMAND "${HOLDFAST_FUZZ_CXX}" ${fuzz_flags} -MD -MF "${object}.d"
        -c "${PROJECT_SOURCE_DIR}/${source}" -o "${object}"
      DEPENDS "${PROJECT_SOURCE_DIR}/${source}" DEPFILE "${object}.d"
      COMMENT "Compiling ${source} for fuzzing" VERBATIM)
  endforeach()
  set(program "${fuzz_folder}/fuzz_${target}")
  add_custom_command(OUTPUT "${program}"
    # The archives have these sources too, together with others: the first definition counts.
    COMMAND "${HOLDFAST_FUZZ_CXX}" -fsanitize=fuzzer,address,undefined -Wl,-z,muldefs ${HOLDFAST_LINKER_FLAG} ${objects}
      $<TARGET_FILE:holdfast_server> $<TARGET_FILE:holdfast>
      -lboost_json -lboost_url -llmdb -lhiredis -lssl -lcrypto -lspdlog -lfmt
      -lyaml-cpp -pthread -o "${program}"
    DEPENDS ${objects} holdfast_server holdfast
    COMMENT "Linking fuzz_${target}" VERBATIM)
  add_custom_target(fuzz_${target} ALL DEPENDS "${program}")
  add_dependencies(fuzz_targets fuzz_${target})
  add_test(NAME fuzz/${target}
    COMMAND "${PROJECT_SOURCE_DIR}/fuzz/run" "${fuzz_folder}" 15 ${target})
  set_tests_properties(fuzz/${target} PROPERTIES LABELS fuzz COST 40 TIMEOUT 600)
endfunction()

add_custom_target(fuzz_targets)
holdfast_fuzz(http_request
  src/net/http/request_reader.cpp src/net/http/header_parser.cpp src/net/http/chunk_reader.cpp
  src/net/http/message.cpp)
holdfast_fuzz(acquire_json
  src/text/json_parse.cpp src/text/duration.cpp src/text/words.cpp src/server/locks/order.cpp
  src/server/http/fields.cpp src/server/http/call.cpp)
holdfast_fuzz(store_url src/text/url.cpp src/text/quorum_url.cpp)
holdfast_fuzz(duration src/text/duration.cpp)
holdfast_fuzz(canonical_json
  src/text/canonical_json.cpp src/text/js_number.cpp src/text/utf16.cpp src/model/utf8.cpp)
holdfast_fuzz(rate_state src/model/rate_codec.cpp src/model/rate_limit.cpp)
holdfast_fuzz(run_state src/model/idempotency_codec.cpp src/model/idempotency.cpp)
holdfast_fuzz(forrst_envelope
  src/forrst/envelope.cpp src/forrst/urn.cpp src/forrst/version.cpp src/text/json_parse.cpp
  src/text/json_flaw.cpp src/model/utf8.cpp)
