# Installs the compiler, as the component "compiler": the tools, the libraries, their headers and td files, and what
# find_package(Flashloom COMPONENTS compiler) reads beside the runtime's part (runtime/cmake/InstallRuntime.cmake).
include(GNUInstallDirs)

set(FLASHLOOM_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Flashloom)
get_property(FLASHLOOM_LIBRARIES GLOBAL PROPERTY FLASHLOOM_LIBRARIES)

add_library(FaCompiler INTERFACE)
target_link_libraries(FaCompiler INTERFACE ${FLASHLOOM_LIBRARIES})
set_target_properties(FaCompiler PROPERTIES EXPORT_NAME compiler)

install(TARGETS FaCompiler ${FLASHLOOM_LIBRARIES} EXPORT FlashloomCompiler
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS fa-opt fa-run fa-gen fa-lsp-server
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fa ${PROJECT_BINARY_DIR}/include/fa
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT compiler
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
  PATTERN CMakeFiles EXCLUDE)

install(EXPORT FlashloomCompiler NAMESPACE Flashloom:: FILE FlashloomCompiler.cmake
  DESTINATION ${FLASHLOOM_PACKAGE_DIR} COMPONENT compiler)
configure_file(${CMAKE_CURRENT_LIST_DIR}/FlashloomFindCompiler.cmake.in
  ${PROJECT_BINARY_DIR}/FlashloomFindCompiler.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/FlashloomFindCompiler.cmake
  DESTINATION ${FLASHLOOM_PACKAGE_DIR} COMPONENT compiler)
