# SELVAGE_COMMIT: what results are labelled with; taken when CMake configures.
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
