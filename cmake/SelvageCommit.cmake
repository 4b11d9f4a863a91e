# SELVAGE_COMMIT: what results are labelled with; taken when CMake configures.
find_package(Git QUIET)
set(SELVAGE_COMMIT "unknown")
if(Git_FOUND)
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
