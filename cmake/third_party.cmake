# Third-party libraries as imported targets. A module names the ones it may open in its weir_module
# call; which headers belong to which door is checked by tools/tidy.py.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(GTest REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(Boost 1.81 REQUIRED)  # Headers only.
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

add_library(xxhash INTERFACE)  # Header only, inlined: XXH_INLINE_ALL.
target_compile_definitions(xxhash INTERFACE XXH_INLINE_ALL)

# Debian's libpg_query has neither CMake nor pkg-config files.
find_path(PG_QUERY_INCLUDE_DIR pg_query.h REQUIRED)
find_library(PG_QUERY_LIBRARY pg_query REQUIRED)
add_library(pg_query UNKNOWN IMPORTED)
set_target_properties(pg_query PROPERTIES
  IMPORTED_LOCATION ${PG_QUERY_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${PG_QUERY_INCLUDE_DIR})

# Arrow and Parquet come from the pinned pyarrow wheel that tools/setup.sh put into the venv. The
# wheel has no CMake files, so its libraries are copied beside the binary and imported by full path.
if(NOT WEIR_WITHOUT_ARROW)
  set(WEIR_VENV ${CMAKE_SOURCE_DIR}/build/venv CACHE PATH "venv with the pinned pyarrow")
  file(GLOB pyarrow_dir ${WEIR_VENV}/lib/python3*/site-packages/pyarrow)
  if(NOT EXISTS "${pyarrow_dir}/include/parquet/column_writer.h")
    message(FATAL_ERROR "No pyarrow in ${WEIR_VENV}: run `make setup` first.")
  endif()
  file(STRINGS ${pyarrow_dir}/include/arrow/util/config.h so_line REGEX "define ARROW_SO_VERSION ")
  string(REGEX MATCH "[0-9]+" WEIR_ARROW_SO_VERSION "${so_line}")
  file(STRINGS ${pyarrow_dir}/include/arrow/util/config.h version_line
    REGEX "define ARROW_VERSION_STRING ")
  string(REGEX MATCH "[0-9.]+" WEIR_ARROW_VERSION "${version_line}")

  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  foreach(name arrow parquet)
    set(file_name lib${name}.so.${WEIR_ARROW_SO_VERSION})
    file(COPY_FILE ${pyarrow_dir}/${file_name} ${CMAKE_BINARY_DIR}/lib/${file_name}
      ONLY_IF_DIFFERENT)
    add_library(${name} SHARED IMPORTED)
    set_target_properties(${name} PROPERTIES
      IMPORTED_LOCATION ${CMAKE_BINARY_DIR}/lib/${file_name}
      IMPORTED_NO_SONAME OFF
      IMPORTED_SONAME ${file_name}
      INTERFACE_INCLUDE_DIRECTORIES ${pyarrow_dir}/include)
  endforeach()
  set_property(TARGET parquet PROPERTY INTERFACE_LINK_LIBRARIES arrow)
endif()
set(CMAKE_BUILD_RPATH "\$ORIGIN/lib")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "\$ORIGIN/lib")
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
