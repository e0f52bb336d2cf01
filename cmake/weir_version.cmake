# base/version.cc is generated, so that a new commit rebuilds one file.
find_package(Git QUIET)
set(WEIR_COMMIT "unknown")
if(GIT_FOUND AND EXISTS ${CMAKE_SOURCE_DIR}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -c safe.directory=* rev-parse --short=12 HEAD
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE WEIR_COMMIT
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT WEIR_COMMIT)
    set(WEIR_COMMIT "unknown")
  endif()
endif()
configure_file(${CMAKE_SOURCE_DIR}/src/weir/base/version.cc.in
  ${CMAKE_BINARY_DIR}/generated/base/version.cc @ONLY)
