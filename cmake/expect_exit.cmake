# cmake -DEXIT_CODE=n [-DOUTPUT_REGEX=regex] -P expect_exit.cmake -- command...
# Passes when the command ends with exactly that exit code and its output matches. ctest's own WILL_FAIL and
# PASS_REGULAR_EXPRESSION can't tell one exit code from another, and the exit code is part of what the programs promise.
set(command "")
set(after_dashes OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(index RANGE ${last})
  if(after_dashes)
    list(APPEND command "${CMAKE_ARGV${index}}")
  elseif(CMAKE_ARGV${index} STREQUAL "--")
    set(after_dashes ON)
  endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(NOT result STREQUAL EXIT_CODE)
  message(FATAL_ERROR "expected exit code ${EXIT_CODE}, got ${result}")
endif()
if(NOT OUTPUT_REGEX STREQUAL "" AND NOT output MATCHES "${OUTPUT_REGEX}")
  message(FATAL_ERROR "the output doesn't match: ${OUTPUT_REGEX}")
endif()
