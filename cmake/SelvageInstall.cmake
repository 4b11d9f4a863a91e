# What find_package(Selvage) reads.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Selvage")
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/SelvageConfig.cmake.in" "${PROJECT_BINARY_DIR}/SelvageConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/SelvageConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/SelvageConfig.cmake" "${PROJECT_BINARY_DIR}/SelvageConfigVersion.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/FindSCOTCH.cmake"
        DESTINATION "${package_dir}"
        COMPONENT selvage_libraries)
install(
  EXPORT SelvageTargets
  NAMESPACE Selvage::
  DESTINATION "${package_dir}"
  COMPONENT selvage_libraries)
