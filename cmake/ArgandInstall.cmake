# `cmake --install` gives find_package(argand) with the targets argand::argand and argand::torch, and find_package(Torch).
include(CMakePackageConfigHelpers)

if(TARGET argand_cuda)
  install(TARGETS argand_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
foreach(engine IN LISTS ARGAND_ENGINES)
  install(TARGETS ${engine} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
install(TARGETS argand argand_c argand_torch EXPORT argand LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET argand_cli)
  install(TARGETS argand_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
argand_install_headers(${CMAKE_INSTALL_INCLUDEDIR})

# Programs of LibTorch's first releases name this archive beside TORCH_LIBRARIES.  What it had is in libargand, so it has
# no members.
file(WRITE ${PROJECT_BINARY_DIR}/libc10d.a "!<arch>\n")
install(FILES ${PROJECT_BINARY_DIR}/libc10d.a DESTINATION lib)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/argand)
install(EXPORT argand NAMESPACE argand:: FILE argand-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/argand-config.cmake.in argand-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(argand-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/argand-config.cmake ${PROJECT_BINARY_DIR}/argand-config-version.cmake
  DESTINATION ${package_dir})
set(torch_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Torch)
configure_package_config_file(cmake/TorchConfig.cmake.in TorchConfig.cmake INSTALL_DESTINATION ${torch_dir})
install(FILES ${PROJECT_BINARY_DIR}/TorchConfig.cmake DESTINATION ${torch_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
