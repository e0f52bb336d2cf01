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
  # The log of HEAD grows with every commit and checkout: the next build configures anew.
  execute_process(COMMAND ${GIT_EXECUTABLE} -c safe.directory=* rev-parse --git-path logs/HEAD
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE head_log
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  cmake_path(ABSOLUTE_PATH head_log BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
  if(EXISTS ${head_log})
    set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
  endif()
endif()
configure_file(${CMAKE_SOURCE_DIR}/src/weir/base/version.cc.in
  ${CMAKE_BINARY_DIR}/generated/base/version.cc @ONLY)
