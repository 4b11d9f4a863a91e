# How every target of Selvage is compiled, and what makes a library or a program an installed one.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

if(SELVAGE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(SELVAGE_CCACHE_PROGRAM ccache)
  mark_as_advanced(SELVAGE_CCACHE_PROGRAM)
  if(SELVAGE_CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${SELVAGE_CCACHE_PROGRAM}")
  endif()
endif()

# selvage_target_defaults(target): C++20, warnings, -march=native, unity builds and sanitizers where asked for.
# For any target of the tree; selvage_library and selvage_executable call it.
function(selvage_target_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(SELVAGE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${SELVAGE_UNITY_BATCH})
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # Said of anonymous namespaces in what gcc takes for headers, which the sources of a batch are not; and of
      # std::optional, wrongly, where it inlines more than in a source alone.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage -Wno-maybe-uninitialized)
    endif()
  endif()
  if(Kokkos_ENABLE_CUDA)
    # fmt 9 takes nvcc for a compiler without constexpr, then calls such functions from constexpr ones.
    target_compile_definitions(${target} PRIVATE FMT_USE_CONSTEXPR=1)
    # "#pragma unroll" is nvcc's; the host compiler sees it too.
    target_compile_options(${target} PRIVATE -Wno-unknown-pragmas)
  else()
    # Only here, since nvcc's generated host code is full of what these two complain about.
    target_compile_options(${target} PRIVATE -Wshadow -Wpedantic)
  endif()
  if(SELVAGE_NATIVE)
    target_compile_options(${target} PRIVATE -march=native)
  endif()
  if(SELVAGE_SANITIZE)
    # Without recovery, so that undefined behaviour fails the test that meets it.
    target_compile_options(${target} PRIVATE -fsanitize=${SELVAGE_SANITIZE} -fno-sanitize-recover=all
                                             -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${SELVAGE_SANITIZE})
  endif()
endfunction()

# selvage_optimize_little(target): for tests, into which most of the time of an optimising build goes, and which run about as
# fast without. The libraries, whose flags are the build type's, are what is tested. With SELVAGE_UNITY=OFF tests have the
# build type's flags, too.
function(selvage_optimize_little target)
  if(SELVAGE_UNITY AND NOT Kokkos_ENABLE_CUDA)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# selvage_precompile(target [GTest::gtest]): lets a target that links Kokkos and MPI read their headers precompiled, which is
# done once per tree and not per target. gcc wants the same definitions and the same kind of position-independent code where
# they are used, and optimises as it did there whatever the level is later: libraries, programs and tests have one each.
function(selvage_precompile target)
  if(SELVAGE_KOKKOS_OPTIMIZATION)
    target_compile_options(${target} PRIVATE ${SELVAGE_KOKKOS_OPTIMIZATION})
  endif()
  # nvcc knows no precompiled headers.
  if(Kokkos_ENABLE_CUDA OR NOT (SELVAGE_UNITY OR SELVAGE_SYNTAX_ONLY))
    return()
  endif()
  get_target_property(type ${target} TYPE)
  set(headers <Kokkos_Core.hpp>)
  if(NOT SELVAGE_SYNTAX_ONLY)
    list(APPEND headers <mpi.h> <fmt/format.h> <algorithm> <functional> <memory> <optional> <string> <vector>)
  endif()
  set(owner selvage_precompiled_for_libraries)
  if(ARGN)
    set(owner selvage_precompiled_for_tests)
    list(APPEND headers <gtest/gtest.h>)
  elseif(type STREQUAL EXECUTABLE)
    set(owner selvage_precompiled_for_programs)
  endif()
  if(NOT TARGET ${owner})
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${owner}.cpp" CONTENT "int main() {}\n")
    if(type STREQUAL EXECUTABLE)
      add_executable(${owner} EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/${owner}.cpp")
    else()
      add_library(${owner} OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/${owner}.cpp")
    endif()
    selvage_target_defaults(${owner})
    if(ARGN)
      selvage_optimize_little(${owner})
    endif()
    if(SELVAGE_KOKKOS_OPTIMIZATION)
      target_compile_options(${owner} PRIVATE ${SELVAGE_KOKKOS_OPTIMIZATION})
    endif()
    target_link_libraries(${owner} PRIVATE Kokkos::kokkos MPI::MPI_CXX fmt::fmt ${ARGN})
    target_precompile_headers(${owner} PRIVATE ${headers})
    if(SELVAGE_SYNTAX_ONLY)
      # Of nothing but the syntax, gcc writes no precompiled header.
      get_target_property(options ${owner} COMPILE_OPTIONS)
      list(REMOVE_ITEM options -fsyntax-only)
      set_target_properties(${owner} PROPERTIES COMPILE_OPTIONS "${options}")
    endif()
  endif()
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_precompile_headers(${target} REUSE_FROM ${owner})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # For ccache to see what they consist of.
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
  if(SELVAGE_SYNTAX_ONLY AND NOT ARGN)
    selvage_skip_precompiled(${target})
  endif()
endfunction()

# selvage_skip_precompiled(target): sources that don't include Kokkos must include what they use of the standard library.
function(selvage_skip_precompiled target)
  get_target_property(sources ${target} SOURCES)
  execute_process(
    COMMAND "${PROJECT_SOURCE_DIR}/cmake/not_including.py" Kokkos_Core.hpp ${sources}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    OUTPUT_VARIABLE others
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set_source_files_properties(${others} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# selvage_fortran_defaults(target): standard and warnings of a target in Fortran.
function(selvage_fortran_defaults target)
  if(CMAKE_Fortran_COMPILER_ID STREQUAL GNU)
    # Tests compare numbers that are exact.
    target_compile_options(${target} PRIVATE -std=f2018 -Wall -Wextra -Wno-compare-reals)
  endif()
  set_target_properties(${target} PROPERTIES Fortran_MODULE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()

# selvage_without_nvcc(target): in the CUDA build a target that includes no Kokkos skips nvcc, which is slower and can't digest
# every library. Not with a definition that holds quotes: nvcc_wrapper loses them.
function(selvage_without_nvcc target)
  if(Kokkos_ENABLE_CUDA)
    target_compile_options(${target} PRIVATE --host-only)
  endif()
endfunction()

# selvage_host_sources(target file...): the same for sources of a target that includes Kokkos elsewhere, which are then compiled
# apart. Called when the target's libraries are known.
function(selvage_host_sources target)
  if(NOT Kokkos_ENABLE_CUDA)
    return()
  endif()
  get_target_property(others ${target} SOURCES)
  list(REMOVE_ITEM others ${ARGN})
  set_property(TARGET ${target} PROPERTY SOURCES ${others})
  add_library(${target}_host OBJECT ${ARGN})
  selvage_target_defaults(${target}_host)
  selvage_without_nvcc(${target}_host)
  target_include_directories(${target}_host PRIVATE "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  get_target_property(libraries ${target} LINK_LIBRARIES)
  target_link_libraries(${target}_host PRIVATE ${libraries})
  target_sources(${target} PRIVATE "$<TARGET_OBJECTS:${target}_host>")
endfunction()

# selvage_library(target component): makes an existing library target an installed component Selvage::<component>
# with its public headers in include/ and its own in src/.
function(selvage_library target component)
  set_property(GLOBAL APPEND PROPERTY SELVAGE_COMPONENTS ${component})
  selvage_target_defaults(${target})
  if(Kokkos_ENABLE_CUDA)
    # A component that doesn't know Kokkos needs no nvcc.
    set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
    target_compile_options(${target} PRIVATE "$<$<NOT:$<IN_LIST:KOKKOS_DEPENDENCE,${definitions}>>:--host-only>")
  endif()
  target_include_directories(
    ${target}
    PUBLIC "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>"
           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  set_target_properties(
    ${target} PROPERTIES EXPORT_NAME ${component} OUTPUT_NAME selvage_${component} VERSION ${Selvage_VERSION}
                         SOVERSION ${Selvage_VERSION_MAJOR}.${Selvage_VERSION_MINOR})
  # Where they are shared, they find each other beside themselves.
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  # Everything that find_package(Selvage) leads to is one install component, so that it needs no program to be built.
  install(
    TARGETS ${target}
    EXPORT Selvage_${component}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT selvage_libraries
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT selvage_libraries NAMELINK_COMPONENT selvage_libraries
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT selvage_libraries)
  install(
    DIRECTORY include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT selvage_libraries
    FILES_MATCHING
    PATTERN "*.h"
    PATTERN "*.hpp")
endfunction()

# selvage_executable(target): makes an existing executable target an installed program.
function(selvage_executable target)
  selvage_target_defaults(${target})
  file(RELATIVE_PATH to_libraries "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT selvage_programs)
endfunction()
