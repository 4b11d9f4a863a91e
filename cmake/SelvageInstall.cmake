# What find_package(Selvage), pkg-config and selvage-config answer from.
include(CMakePackageConfigHelpers)
include(SelvageFlags)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Selvage")
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/SelvageConfig.cmake.in" "${PROJECT_BINARY_DIR}/SelvageConfig.cmake"
  INSTALL_DESTINATION "${package_dir}"
  PATH_VARS CMAKE_INSTALL_DATADIR)
configure_file("${CMAKE_CURRENT_LIST_DIR}/SelvageKokkosDependency.cmake.in" "${PROJECT_BINARY_DIR}/SelvageKokkosDependency.cmake" @ONLY)
# As CHANGELOG.md promises.
set(compatibility SameMajorVersion)
if(Selvage_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file("${PROJECT_BINARY_DIR}/SelvageConfigVersion.cmake" COMPATIBILITY ${compatibility})
install(FILES "${PROJECT_BINARY_DIR}/SelvageConfig.cmake" "${PROJECT_BINARY_DIR}/SelvageConfigVersion.cmake"
              "${PROJECT_BINARY_DIR}/SelvageKokkosDependency.cmake" "${CMAKE_CURRENT_LIST_DIR}/FindSCOTCH.cmake"
        DESTINATION "${package_dir}"
        COMPONENT selvage_libraries)
get_property(components GLOBAL PROPERTY SELVAGE_COMPONENTS)
# One file each, so that topo alone names no target of Kokkos.
foreach(component IN LISTS components)
  install(
    EXPORT Selvage_${component}
    NAMESPACE Selvage::
    DESTINATION "${package_dir}"
    COMPONENT selvage_libraries)
endforeach()

selvage_write_flags()
install(FILES "${PROJECT_BINARY_DIR}/selvage-topo.pc" "${PROJECT_BINARY_DIR}/selvage-comm.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT selvage_libraries)
install(PROGRAMS "${PROJECT_BINARY_DIR}/selvage-config" DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT selvage_libraries)
