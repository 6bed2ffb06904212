# cmake --install: the command with man pages and completions, the library, its headers, and what pkg-config and
# find_package(aisampler) read. All of
# it may be moved as a whole: nothing holds the prefix.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/aisampler)

file(RELATIVE_PATH to_library /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set_target_properties(aisampler_command PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
install(TARGETS aisampler_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS aisampler EXPORT aisampler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/aisampler DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

install(EXPORT aisampler NAMESPACE aisampler:: FILE aisamplerConfig.cmake DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/aisamplerConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/aisamplerConfigVersion.cmake DESTINATION ${package_dir})

file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/aisampler.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@to_prefix@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@

Name: aisampler
Description: Draws from densities known up to a constant
Version: @PROJECT_VERSION@
Cflags: -I${includedir}
Libs: -L${libdir} -laisampler
]])
install(FILES ${PROJECT_BINARY_DIR}/aisampler.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Man pages and completions are what the command says of itself: made anew whenever it is linked. A wheel has no place
# for them.
if(NOT SKBUILD)
  set(manual ${PROJECT_BINARY_DIR}/manual)
  add_custom_command(TARGET aisampler_command POST_BUILD VERBATIM
    COMMAND ${CMAKE_COMMAND} -DCOMMAND=$<TARGET_FILE:aisampler_command> -DOUTPUT=${manual}
      -P ${PROJECT_SOURCE_DIR}/cmake/manual.cmake)
  install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${manual}/aisampler DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${manual}/_aisampler DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

# Of what is linked into a wheel (scripts/wheel.sh).
if(AIS_LICENSES)
  install(DIRECTORY ${AIS_LICENSES} DESTINATION .)
endif()
