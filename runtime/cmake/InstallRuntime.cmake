# Installs the runtime, as the component "runtime": the libraries, the header, fa-bench, and what find_package(Flashloom) and
# pkg-config read. All of it may be moved together.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(FLASHLOOM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Flashloom)

install(TARGETS fa_runtime fa_runtime_shared EXPORT FlashloomRuntime
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS fa-bench
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/include/flashloom/fa_runtime.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/flashloom COMPONENT runtime)

# -- find_package(Flashloom) -------------------------------------------------

install(EXPORT FlashloomRuntime NAMESPACE Flashloom:: FILE FlashloomRuntime.cmake
  DESTINATION ${FLASHLOOM_PACKAGE_DIR} COMPONENT runtime)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/FlashloomConfig.cmake.in
  ${PROJECT_BINARY_DIR}/FlashloomConfig.cmake
  INSTALL_DESTINATION ${FLASHLOOM_PACKAGE_DIR}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/FlashloomConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/FlashloomConfig.cmake
  ${PROJECT_BINARY_DIR}/FlashloomConfigVersion.cmake
  DESTINATION ${FLASHLOOM_PACKAGE_DIR} COMPONENT runtime)

# -- pkg-config --------------------------------------------------------------

# The prefix as seen from flashloom.pc; lib may have a folder of the architecture in it.
file(RELATIVE_PATH FLASHLOOM_PREFIX_FROM_PC
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/flashloom.pc.in
  ${PROJECT_BINARY_DIR}/flashloom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/flashloom.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
