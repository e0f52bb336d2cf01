# One call per folder builds all of it:
#
#   weir_module(pg LIBRARIES PostgreSQL::PostgreSQL [TEST_LIBRARIES ...] [EMBED_SQL])
#
#   x.cc          -> library weir_pg (linked to the folders its LAYERS line names)
#   x_test.cc     -> the one test binary pg_test, label `pg`
#   x_bench.cc    -> one binary each, x_bench
#   x_fuzz.cc     -> libFuzzer binary under WEIR_FUZZ; otherwise a corpus replay that runs as a test
#   sql/**/*.sql  -> constants in the generated header weir/pg/sql.h
#
# ARROW marks a folder left out under WEIR_WITHOUT_ARROW; a folder above one is marked too. A folder
# with ARROW_LIBRARIES keeps its files but those named arrow_*.cc, and loses the libraries.
set(WEIR_SOURCE_DIR ${CMAKE_SOURCE_DIR}/src)
set(WEIR_TEST_TIMEOUT_S 600 CACHE STRING "Seconds a test binary may take; tools/build.sh sets it")

function(weir_layer_line name out)
  file(STRINGS ${WEIR_SOURCE_DIR}/weir/LAYERS lines REGEX "^${name}:")
  string(REGEX REPLACE "^${name}: *" "" deps "${lines}")
  separate_arguments(deps)
  set(${out} ${deps} PARENT_SCOPE)
endfunction()

# Adds every folder in LAYERS that is there, lowest first.
function(weir_modules)
  file(STRINGS ${WEIR_SOURCE_DIR}/weir/LAYERS lines REGEX "^[a-z]+:")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^[a-z]+" name "${line}")
    if(EXISTS ${WEIR_SOURCE_DIR}/weir/${name}/CMakeLists.txt)
      add_subdirectory(${WEIR_SOURCE_DIR}/weir/${name})
    endif()
  endforeach()
endfunction()

function(weir_embed_sql name)
  file(GLOB_RECURSE sql_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/sql/*.sql)
  set(header ${CMAKE_BINARY_DIR}/generated/weir/${name}/sql.h)
  add_custom_command(OUTPUT ${header}
    COMMAND python3 ${CMAKE_SOURCE_DIR}/tools/embed_sql.py
      ${name} ${CMAKE_CURRENT_SOURCE_DIR}/sql ${header}
    DEPENDS ${sql_files} ${CMAKE_SOURCE_DIR}/tools/embed_sql.py VERBATIM)
  target_sources(weir_${name} PRIVATE ${header})
endfunction()

function(weir_module name)
  cmake_parse_arguments(ARG "ARROW;EMBED_SQL" "" "LIBRARIES;TEST_LIBRARIES;ARROW_LIBRARIES" ${ARGN})
  if(ARG_ARROW AND WEIR_WITHOUT_ARROW)
    return()
  endif()
  file(GLOB all CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(WEIR_WITHOUT_ARROW)
    list(FILTER all EXCLUDE REGEX "/arrow_[^/]*$")
  else()
    list(APPEND ARG_LIBRARIES ${ARG_ARROW_LIBRARIES})
  endif()
  set(tests ${all})
  set(benches ${all})
  set(fuzzers ${all})
  set(sources ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz|/main)\\.cc$")
  if(name STREQUAL base)
    list(APPEND sources ${CMAKE_BINARY_DIR}/generated/base/version.cc)
  endif()

  add_library(weir_${name} STATIC ${sources})
  target_include_directories(weir_${name} PUBLIC ${WEIR_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
  weir_layer_line(${name} deps)
  foreach(dep IN LISTS deps)
    if(TARGET weir_${dep})
      target_link_libraries(weir_${name} PUBLIC weir_${dep})
    endif()
  endforeach()
  target_link_libraries(weir_${name} PUBLIC ${ARG_LIBRARIES} Threads::Threads)
  if(ARG_EMBED_SQL)
    weir_embed_sql(${name})
  endif()

  if(tests AND NOT WEIR_FUZZ)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE weir_${name} ${ARG_TEST_LIBRARIES} GTest::gtest_main)
    target_precompile_headers(${name}_test PRIVATE <gtest/gtest.h>)
    target_compile_options(${name}_test PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
    add_test(NAME ${name}_test COMMAND ${name}_test WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
    set_tests_properties(${name}_test PROPERTIES LABELS ${name} TIMEOUT ${WEIR_TEST_TIMEOUT_S})
  endif()
  foreach(bench IN LISTS benches)
    cmake_path(GET bench STEM stem)
    add_executable(${stem} ${bench})
    target_link_libraries(${stem} PRIVATE weir_${name})
    add_test(NAME ${stem} COMMAND ${stem} --small WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
    set_tests_properties(${stem} PROPERTIES LABELS ${name} TIMEOUT 120)
  endforeach()
  foreach(fuzzer IN LISTS fuzzers)
    weir_fuzzer(${name} ${fuzzer})
  endforeach()
endfunction()

# The corpus of x_fuzz.cc is the folder corpus/x beside it.
function(weir_fuzzer name source)
  cmake_path(GET source STEM stem)
  string(REGEX REPLACE "_fuzz$" "" subject ${stem})
  add_executable(${stem} ${source})
  target_link_libraries(${stem} PRIVATE weir_${name})
  if(WEIR_FUZZ)
    target_compile_options(${stem} PRIVATE -fsanitize=fuzzer)
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${stem} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support/replay_corpus.cc)
    add_test(NAME ${stem} COMMAND ${stem} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${subject})
    set_tests_properties(${stem} PROPERTIES LABELS fuzz TIMEOUT 120)
  endif()
endfunction()
