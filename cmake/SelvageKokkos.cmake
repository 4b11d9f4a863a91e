# Kokkos: that of an enclosing project, or what find_package finds, or a release that is fetched and built with Selvage.
#
# Tried with Kokkos' own default options: 4.5.01, 4.6.01 and 4.7.00, with Serial.

set(selvage_kokkos_oldest 4.5)
# The same release and checksum as in scripts/deps/kokkos_source.sh.
set(selvage_kokkos_release 4.7.00)
set(selvage_kokkos_url
    "https://github.com/kokkos/kokkos/releases/download/${selvage_kokkos_release}/kokkos-${selvage_kokkos_release}.tar.gz")
set(selvage_kokkos_sha256 126b774a24dde8c1085c4aede7564c0b7492d6a07d85380f2b387a712cea1ff5)

set(SELVAGE_BACKEND "" CACHE STRING "Kokkos backend to run on: serial, openmp, cuda; empty for what Kokkos runs on by default")
option(SELVAGE_FETCH_KOKKOS "Fetch and build Kokkos ${selvage_kokkos_release} where none is found" ${PROJECT_IS_TOP_LEVEL})

include(SelvageKokkosBackend)

# Downloads by itself, because FetchContent tells of a failure in thirty lines.
function(selvage_download_kokkos archive advice)
  if(EXISTS "${archive}")
    file(SHA256 "${archive}" checksum)
    if(checksum STREQUAL selvage_kokkos_sha256)
      return()
    endif()
  endif()
  message(STATUS "No Kokkos ${selvage_kokkos_oldest} or newer was found: fetching ${selvage_kokkos_url}")
  file(DOWNLOAD "${selvage_kokkos_url}" "${archive}" STATUS status TIMEOUT 120 INACTIVITY_TIMEOUT 10)
  list(POP_FRONT status code)
  if(NOT code EQUAL 0)
    file(REMOVE "${archive}")
    message(FATAL_ERROR "Kokkos ${selvage_kokkos_oldest} or newer was not found and can't be fetched (${status}): ${advice}")
  endif()
  file(SHA256 "${archive}" checksum)
  if(NOT checksum STREQUAL selvage_kokkos_sha256)
    message(FATAL_ERROR "${archive} is not Kokkos ${selvage_kokkos_release} (its SHA-256 is ${checksum}): ${advice}")
  endif()
endfunction()

# A function, for these settings to be Kokkos' alone.
function(selvage_build_kokkos)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  # Each of its small sources reads all of its headers again.
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 9)
  # find_package(Selvage) leads to it.
  set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME selvage_libraries)
  set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "Kokkos' Serial backend")
  if(SELVAGE_BACKEND STREQUAL "openmp")
    set(Kokkos_ENABLE_OPENMP ON CACHE BOOL "Kokkos' OpenMP backend")
  elseif(SELVAGE_BACKEND STREQUAL "cuda")
    set(Kokkos_ENABLE_CUDA ON CACHE BOOL "Kokkos' CUDA backend")
    set(Kokkos_ENABLE_CUDA_CONSTEXPR ON CACHE BOOL "Let Kokkos' kernels call constexpr functions")
  endif()
  include(FetchContent)
  FetchContent_Declare(
    kokkos
    URL "${PROJECT_BINARY_DIR}/_deps/kokkos-${selvage_kokkos_release}.tar.gz"
    URL_HASH SHA256=${selvage_kokkos_sha256}
    DOWNLOAD_EXTRACT_TIMESTAMP ON)
  FetchContent_MakeAvailable(kokkos)
endfunction()

macro(selvage_fetch_kokkos)
  set(kokkos_advice "let scripts/deps.sh build one (export Kokkos_ROOT=$(scripts/deps.sh --print-prefix VARIANT)), or "
                    "point Kokkos_ROOT at yours")
  string(JOIN "" kokkos_advice ${kokkos_advice})
  if(NOT SELVAGE_FETCH_KOKKOS)
    message(FATAL_ERROR "Kokkos ${selvage_kokkos_oldest} or newer was not found: ${kokkos_advice}")
  endif()
  if(SELVAGE_BACKEND STREQUAL "cuda" AND NOT CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper$")
    message(FATAL_ERROR "For CUDA, Kokkos must be there first, since its nvcc_wrapper compiles Selvage: ${kokkos_advice}")
  endif()
  if(NOT FETCHCONTENT_SOURCE_DIR_KOKKOS)
    selvage_download_kokkos("${PROJECT_BINARY_DIR}/_deps/kokkos-${selvage_kokkos_release}.tar.gz" "${kokkos_advice}")
  endif()
  selvage_build_kokkos()
endmacro()

# What find_package would tell, of a Kokkos that is built here.
macro(selvage_describe_kokkos_target)
  get_directory_property(Kokkos_DEVICES DIRECTORY "${Kokkos_SOURCE_DIR}" DEFINITION KOKKOS_ENABLED_DEVICES)
  get_directory_property(Kokkos_OPTIONS DIRECTORY "${Kokkos_SOURCE_DIR}" DEFINITION KOKKOS_ENABLED_OPTIONS)
  get_directory_property(Kokkos_VERSION DIRECTORY "${Kokkos_SOURCE_DIR}" DEFINITION Kokkos_VERSION)
  foreach(backend IN LISTS Kokkos_DEVICES)
    set(Kokkos_ENABLE_${backend} ON)
  endforeach()
  # Selvage's package file looks beside itself.
  set(Kokkos_DIR "")
endmacro()

# Kokkos for CUDA knows no language extensions and says so unless they are off.
set(CMAKE_CXX_EXTENSIONS OFF)
if(TARGET Kokkos::kokkos)
  selvage_describe_kokkos_target()
  set(kokkos_origin "of the enclosing project")
else()
  find_package(Kokkos ${selvage_kokkos_oldest} QUIET CONFIG)
  if(Kokkos_FOUND)
    set(kokkos_origin "found in ${Kokkos_DIR}")
  else()
    selvage_fetch_kokkos()
    selvage_describe_kokkos_target()
    set(kokkos_origin "fetched, built here")
  endif()
endif()

string(REPLACE ";" " " kokkos_devices "${Kokkos_DEVICES}")
selvage_default_backend(kokkos_backend "${Kokkos_DEVICES}")
if(SELVAGE_BACKEND AND NOT kokkos_backend STREQUAL SELVAGE_BACKEND)
  message(
    FATAL_ERROR
      "The Kokkos ${kokkos_origin} runs on ${kokkos_backend} (it has ${kokkos_devices}), and ${SELVAGE_BACKEND} was asked "
      "for: point Kokkos_ROOT at another ('scripts/deps.sh --kokkos ${SELVAGE_BACKEND}' builds one), or set SELVAGE_BACKEND")
endif()
selvage_summary("Kokkos" "${Kokkos_VERSION} (${kokkos_devices}), ${kokkos_origin}")

# For those who compile against the installed headers.
set(SELVAGE_KOKKOS_HAS_LEGACY_VIEWS 0)
if("IMPL_VIEW_LEGACY" IN_LIST Kokkos_OPTIONS)
  set(SELVAGE_KOKKOS_HAS_LEGACY_VIEWS 1)
endif()
string(REPLACE "." ";" kokkos_parts "${Kokkos_VERSION}.0.0")
list(GET kokkos_parts 0 kokkos_major)
list(GET kokkos_parts 1 kokkos_minor)
list(GET kokkos_parts 2 kokkos_patch)
math(EXPR SELVAGE_KOKKOS_VERSION_NUMBER "10000 * ${kokkos_major} + 100 * ${kokkos_minor} + ${kokkos_patch}")
