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

# selvage_target_defaults(target): C++20, warnings, -march=native and sanitizers where asked for.
# For any target of the tree; selvage_library and selvage_executable call it.
function(selvage_target_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
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

# selvage_host_sources(file...): sources that include no Kokkos, of a target that links it. In the CUDA build they skip
# nvcc, which is slower and can't digest every library. Not with a definition that holds quotes: nvcc_wrapper loses them.
function(selvage_host_sources)
  if(Kokkos_ENABLE_CUDA)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS --host-only)
  endif()
endfunction()

# selvage_library(target component): makes an existing library target an installed component Selvage::<component>
# with its public headers in include/ and its own in src/.
function(selvage_library target component)
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
  # Everything that find_package(Selvage) leads to is one install component, so that it needs no program to be built.
  install(
    TARGETS ${target}
    EXPORT SelvageTargets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT selvage_libraries
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT selvage_libraries NAMELINK_COMPONENT selvage_libraries
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT selvage_libraries)
  install(
    DIRECTORY include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT selvage_libraries
    FILES_MATCHING
    PATTERN "*.hpp")
endfunction()

# selvage_executable(target): makes an existing executable target an installed program.
function(selvage_executable target)
  selvage_target_defaults(${target})
  file(RELATIVE_PATH to_libraries "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT selvage_programs)
endfunction()
