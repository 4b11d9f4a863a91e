# selvage_add_unit_test, selvage_add_mpi_test and selvage_add_benchmark.

set(SELVAGE_MPIEXEC_FLAGS "")
if(SELVAGE_MPI_IS_OPEN_MPI)
  # Unbound, because several tests run at a time and Open MPI would bind each job's ranks to the same first cores.
  set(SELVAGE_MPIEXEC_FLAGS --oversubscribe --bind-to none)
endif()

# For scripts that end ranks, or whose programs do.
set(SELVAGE_TESTS_LAUNCH "${PROJECT_SOURCE_DIR}/tests/support/launch.sh ${MPIEXEC_EXECUTABLE}")

# Every test sees the same environment, whatever the shell that started ctest exports.
set(SELVAGE_TEST_ENVIRONMENT
    OMP_NUM_THREADS=1
    OMP_PROC_BIND=false
    # More threads than cores: those that wait must let others work (a test of 1 s took over 120 s otherwise).
    OMP_WAIT_POLICY=passive
    # Kokkos warns of more threads than cores where an exact output is compared; ranks share cores here on purpose.
    KOKKOS_DISABLE_WARNINGS=1
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Halos by proxy are refused otherwise.
    CUDA_MODULE_LOADING=EAGER
    # Nor may a table of this user's decide what is tested.
    SELVAGE_ALLREDUCE_TABLE=off
    SELVAGE_PROBES=off
    # HDF5's locks fail on some network file systems.
    HDF5_USE_FILE_LOCKING=FALSE
    # Open MPI leaks in plugins that it has unloaded by the time the leaks are counted, so no suppression can name them.
    # HDF5 asks for absurd amounts of memory for damaged files, and takes no for an answer.
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
    UBSAN_OPTIONS=print_stacktrace=1
    # MPI's own threads synchronise by means that the thread sanitizer, which didn't compile them, can't see.
    TSAN_OPTIONS=ignore_noninstrumented_modules=1)

# Only a test that hangs takes so long, on the slowest of machines.
set(SELVAGE_TEST_LIMIT_S 900)

# selvage_finish_test(NAME LABELS PROCESSES ENVIRONMENT PROPERTIES)
# PROCESSES is the number that compute at a time, or `waits` for a test that mostly waits: time-outs, dead ranks, many short runs.
#
# scripts/test.sh has four places on two cores. Of tests that compute two run at a time, or one of three ranks and more; tests that
# wait take the place beside that. Nothing that computes does: ranks that poll then wait for a turn of the scheduler at each
# message, and take four times as long. Large jobs begin first, as long as there are tests that fit beside them.
function(selvage_finish_test name labels processes environment properties)
  set(places 2)
  if(processes STREQUAL "waits")
    set(places 1)
  elseif(processes GREATER 2)
    set(places 3)
  endif()
  set_tests_properties(
    ${name} PROPERTIES LABELS "${labels}" TIMEOUT ${SELVAGE_TEST_LIMIT_S} PROCESSORS "${places}" COST "${places}"
                       ENVIRONMENT "${SELVAGE_TEST_ENVIRONMENT};${environment}")
  if(properties)
    set_tests_properties(${name} PROPERTIES ${properties})
  endif()
endfunction()

# The command of a test; through expect_exit.cmake where an exit code or a text is part of the behaviour.
function(selvage_test_command out exit_code output_regex)
  if(exit_code STREQUAL "" AND output_regex STREQUAL "")
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  if(exit_code STREQUAL "")
    set(exit_code 0)
  endif()
  set(${out} "${CMAKE_COMMAND}" "-DEXIT_CODE=${exit_code}" "-DOUTPUT_REGEX=${output_regex}" -P
             "${PROJECT_SOURCE_DIR}/cmake/expect_exit.cmake" -- "${PROJECT_SOURCE_DIR}/tests/support/launch.sh"
             ${ARGN} PARENT_SCOPE)
endfunction()

# selvage_add_test_program(NAME comm.halo SOURCES grid_test.cpp ... LIBRARIES Selvage::comm [UNIT | WITHOUT_KOKKOS] [OPTIMIZED])
# One program of many suites, test_comm_halo, with the main of tests/support/mpi_main.cpp or, for UNIT, with gtest's.
# OPTIMIZED compiles it as the libraries are compiled, for tests of the bits that templates of theirs compute.
function(selvage_add_test_program)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "UNIT;WITHOUT_KOKKOS;OPTIMIZED" "NAME" "SOURCES;LIBRARIES")
  string(REPLACE "." "_" target "test_${ARG_NAME}")
  set(main selvage_mpi_test_main)
  if(ARG_UNIT)
    set(main GTest::gtest_main)
  elseif(ARG_WITHOUT_KOKKOS)
    set(main selvage_mpi_test_main_without_kokkos)
  endif()
  add_executable(${target} ${ARG_SOURCES})
  selvage_target_defaults(${target})
  # Smaller than a library's: many of these compile long by themselves. On GPUs one by one: names in common mean other types there.
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 5)
  if(Kokkos_ENABLE_CUDA)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
  # Names of one source may be those of variables in another.
  target_compile_options(${target} PRIVATE -Wno-shadow)
  if(NOT ARG_OPTIMIZED)
    selvage_optimize_little(${target})
  endif()
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests/support")
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES} ${main})
  # Precompiled headers bring their own level of optimisation.
  if(NOT ARG_OPTIMIZED AND "${ARG_LIBRARIES}" MATCHES "Selvage::comm|selvage_(jacobi|md|sgd)")
    selvage_precompile(${target} GTest::gtest)
  endif()
endfunction()

# A suite's name that no source of the program has would leave out what was meant, and pass.
function(selvage_check_suites test target)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  set(tests "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}")
    file(STRINGS "${source}" found REGEX "^(TYPED_)?TEST(_F|_P)?\\(")
    list(APPEND tests ${found})
  endforeach()
  foreach(suite IN LISTS ARGN)
    if(NOT "${tests}" MATCHES "TEST(_F|_P)?\\(${suite},")
      message(FATAL_ERROR "test ${test}: no source of ${target} has a suite ${suite}")
    endif()
  endforeach()
endfunction()

# With `kind` as selvage_add_test_program takes it. A macro for its variables to reach the caller; PARSE_ARGV, because a macro's ARGN would lose backslashes.
macro(selvage_parse_test_arguments)
  cmake_parse_arguments(
    PARSE_ARGV 0 ARG "WITHOUT_KOKKOS;FULL;SLOW" "NAME;TARGET;PROCESSES;EXIT_CODE;OUTPUT_REGEX"
    "SOURCES;LIBRARIES;RANKS;QUICK_RANKS;FULL_RANKS;SUITES;ARGS;LABELS;ENVIRONMENT;PROPERTIES")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "test ${ARG_NAME}: unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_TARGET)
    if(ARG_WITHOUT_KOKKOS)
      set(kind WITHOUT_KOKKOS)
    endif()
    selvage_add_test_program(NAME ${ARG_NAME} SOURCES ${ARG_SOURCES} LIBRARIES ${ARG_LIBRARIES} ${kind})
    string(REPLACE "." "_" ARG_TARGET "test_${ARG_NAME}")
  endif()
  # Suites of tests without and with parameters, and of tests with types.
  if(ARG_SUITES)
    selvage_check_suites(${ARG_NAME} ${ARG_TARGET} ${ARG_SUITES})
    set(filter "")
    foreach(suite IN LISTS ARG_SUITES)
      list(APPEND filter "${suite}.*" "*/${suite}.*" "${suite}/*")
    endforeach()
    list(JOIN filter ":" filter)
    list(PREPEND ARG_ARGS "--gtest_filter=${filter}")
  endif()
endmacro()

# What scripts/test.sh --quick builds.
add_custom_target(selvage_quick_tests)

# selvage_add_unit_test(NAME topo.machine SOURCES machine_test.cpp LIBRARIES Selvage::topo
#                       [TARGET exe] [SUITES ...] [ARGS ...] [LABELS ...] [SLOW | FULL] [PROCESSES n|waits]
#                       [ENVIRONMENT A=B ...] [EXIT_CODE n] [OUTPUT_REGEX regex] [PROPERTIES key value ...])
# A GoogleTest executable with gtest's main (SOURCES), or one that exists already (TARGET), all of it or these SUITES.
# Labels: unit, and quick unless it is SLOW, or full.
function(selvage_add_unit_test)
  set(kind UNIT)
  selvage_parse_test_arguments()
  if(NOT ARG_PROCESSES)
    set(ARG_PROCESSES 1)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(ARG_FULL)
    list(APPEND ARG_LABELS full)
  elseif(NOT ARG_SLOW)
    list(APPEND ARG_LABELS quick)
    add_dependencies(selvage_quick_tests ${ARG_TARGET})
  endif()
  selvage_test_command(command "${ARG_EXIT_CODE}" "${ARG_OUTPUT_REGEX}" "$<TARGET_FILE:${ARG_TARGET}>" ${ARG_ARGS})
  add_test(NAME ${ARG_NAME} COMMAND ${command})
  selvage_finish_test(${ARG_NAME} "${ARG_LABELS}" ${ARG_PROCESSES} "${ARG_ENVIRONMENT}"
                      "${ARG_PROPERTIES}")
endfunction()

# selvage_add_mpi_test(NAME comm.halo SOURCES halo_test.cpp LIBRARIES Selvage::comm
#                      [RANKS 1 2 4] [QUICK_RANKS 2] [FULL_RANKS 8]
#                      [TARGET exe] [SUITES ...] [ARGS ...] [LABELS ...] [PROCESSES n|waits] [ENVIRONMENT A=B ...]
#                      [EXIT_CODE n] [OUTPUT_REGEX regex] [PROPERTIES key value ...] [WITHOUT_KOKKOS])
# Registers NAME.np<N> for each N, with the labels mpi and, as N stands among QUICK_RANKS or FULL_RANKS, quick or full.
# SOURCES are linked with the main of tests/support/mpi_main.cpp; a TARGET runs whole or, with SUITES, these.
# EXIT_CODE and OUTPUT_REGEX are what the whole job must end with and print; without them it must exit 0.
function(selvage_add_mpi_test)
  set(kind "")
  selvage_parse_test_arguments()
  if(NOT ARG_LABELS)
    set(ARG_LABELS mpi)
  endif()
  if(ARG_QUICK_RANKS)
    add_dependencies(selvage_quick_tests ${ARG_TARGET})
  endif()
  foreach(ranks IN LISTS ARG_QUICK_RANKS ARG_RANKS ARG_FULL_RANKS)
    set(labels ${ARG_LABELS})
    if(ranks IN_LIST ARG_QUICK_RANKS)
      list(APPEND labels quick)
    elseif(ranks IN_LIST ARG_FULL_RANKS)
      list(APPEND labels full)
    endif()
    set(name ${ARG_NAME}.np${ranks})
    set(processes ${ranks})
    if(ARG_PROCESSES)
      set(processes ${ARG_PROCESSES})
    endif()
    selvage_test_command(
      command "${ARG_EXIT_CODE}" "${ARG_OUTPUT_REGEX}" "${MPIEXEC_EXECUTABLE}" ${SELVAGE_MPIEXEC_FLAGS}
      ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS} "$<TARGET_FILE:${ARG_TARGET}>" ${MPIEXEC_POSTFLAGS}
      ${ARG_ARGS})
    add_test(NAME ${name} COMMAND ${command})
    selvage_finish_test(${name} "${labels}" ${processes} "${ARG_ENVIRONMENT}" "${ARG_PROPERTIES}")
  endforeach()
endfunction()

# selvage_add_benchmark(NAME bench_halo SOURCES bench_halo.cpp LIBRARIES Selvage::comm ...)
# A Google Benchmark executable that brings its own main (MPI has to be started first). Not installed, not a test.
function(selvage_add_benchmark)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  selvage_target_defaults(${ARG_NAME})
  selvage_precompile(${ARG_NAME})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_LIBRARIES} benchmark::benchmark)
endfunction()
