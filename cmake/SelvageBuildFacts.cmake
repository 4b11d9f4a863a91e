# selvage_build_facts.hpp: what results are labelled with; taken when CMake configures.
find_package(Git QUIET)
set(SELVAGE_COMMIT "unknown")
if(DEFINED ENV{SELVAGE_COMMIT})
  # For a copy of the tree without its history.
  set(SELVAGE_COMMIT "$ENV{SELVAGE_COMMIT}")
endif()
if(Git_FOUND AND SELVAGE_COMMIT STREQUAL "unknown")
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" describe --always --dirty --abbrev=10
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE commit
    RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(SELVAGE_COMMIT "${commit}")
  endif()
endif()
set(SELVAGE_BUILD_TYPE "${CMAKE_BUILD_TYPE}")
if(SELVAGE_NATIVE)
  string(APPEND SELVAGE_BUILD_TYPE ", for this processor")
endif()
file(
  CONFIGURE
  OUTPUT "${PROJECT_BINARY_DIR}/build_facts/selvage_build_facts.hpp"
  CONTENT
    "#pragma once

namespace selvage::build_facts {

constexpr const char* commit = \"@SELVAGE_COMMIT@\";
constexpr const char* type = \"@SELVAGE_BUILD_TYPE@\";

}  // namespace selvage::build_facts
"
  @ONLY)
add_library(selvage_build_facts INTERFACE)
target_include_directories(selvage_build_facts INTERFACE "${PROJECT_BINARY_DIR}/build_facts")
