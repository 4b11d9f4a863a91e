# SCOTCH::scotch: the sequential SCOTCH library with its error handler. Debian installs no CMake package for it.
find_path(SCOTCH_INCLUDE_DIR scotch.h PATH_SUFFIXES scotch scotch-int64 scotch-int32)
find_library(SCOTCH_LIBRARY scotch)
find_library(SCOTCH_ERROR_LIBRARY scotcherr)
mark_as_advanced(SCOTCH_INCLUDE_DIR SCOTCH_LIBRARY SCOTCH_ERROR_LIBRARY)

if(SCOTCH_INCLUDE_DIR)
  file(STRINGS "${SCOTCH_INCLUDE_DIR}/scotch.h" version_lines
       REGEX "^#define SCOTCH_(VERSION|RELEASE|PATCHLEVEL) +[0-9]+")
  string(REGEX MATCHALL "[0-9]+" SCOTCH_VERSION "${version_lines}")
  list(JOIN SCOTCH_VERSION "." SCOTCH_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  SCOTCH
  REQUIRED_VARS SCOTCH_LIBRARY SCOTCH_ERROR_LIBRARY SCOTCH_INCLUDE_DIR
  VERSION_VAR SCOTCH_VERSION)

if(SCOTCH_FOUND AND NOT TARGET SCOTCH::scotch)
  add_library(SCOTCH::scotch UNKNOWN IMPORTED)
  set_target_properties(
    SCOTCH::scotch
    PROPERTIES IMPORTED_LOCATION "${SCOTCH_LIBRARY}"
               INTERFACE_INCLUDE_DIRECTORIES "${SCOTCH_INCLUDE_DIR}"
               INTERFACE_LINK_LIBRARIES "${SCOTCH_ERROR_LIBRARY}")
endif()
