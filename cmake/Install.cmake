# Installation: headers, libraries, tools, data, a CMake package and a pkg-config file.

include(CMakePackageConfigHelpers)

set(archsim_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/archsim)
set(archsim_installed archsim)
if(ARCHSIM_BUILD_SHARED)
    list(APPEND archsim_installed archsim_shared)
endif()

install(TARGETS ${archsim_installed} EXPORT archsim_targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/hardware_db DESTINATION ${CMAKE_INSTALL_DATADIR}/archsim OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/archsim OPTIONAL
        PATTERN export EXCLUDE PATTERN onnx EXCLUDE)
# The graphs of the catalogue take a tenth of their size, and are read as they are.
install(CODE "execute_process(
    COMMAND ${PROJECT_SOURCE_DIR}/cmake/pack_models.sh ${PROJECT_SOURCE_DIR}/models/onnx
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/archsim/models/onnx\"
    COMMAND_ERROR_IS_FATAL ANY)")
if(ARCHSIM_TOOLS)
    install(TARGETS archsim_multicall)
    # Every tool is a link to it.
    string(JOIN " " archsim_tool_names ${ARCHSIM_TOOLS})
    install(CODE "foreach(tool IN ITEMS ${archsim_tool_names})
        file(CREATE_LINK archsim \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\${tool}\" SYMBOLIC)
    endforeach()")
    install(DIRECTORY ${ARCHSIM_SHELL_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(DIRECTORY ${ARCHSIM_SHELL_DIR}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(DIRECTORY ${ARCHSIM_SHELL_DIR}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    # Of the program itself.
    set(archsim_shell ${PROJECT_SOURCE_DIR}/packaging/shell)
    install(FILES ${archsim_shell}/archsim.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${archsim_shell}/archsim.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME archsim)
    install(FILES ${archsim_shell}/_archsim DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${archsim_shell}/archsim.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    install(DIRECTORY ${ARCHSIM_SHELL_DIR}/schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/archsim)
    install(DIRECTORY ${ARCHSIM_SHELL_DIR}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# Copyright and licences; with those of what is compiled in where scripts/release wrote them.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES ${PROJECT_BINARY_DIR}/release/NOTICES.gz DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

install(EXPORT archsim_targets NAMESPACE archsim:: DESTINATION ${archsim_cmake_dir} FILE archsimTargets.cmake)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/archsimConfig.cmake.in
    ${PROJECT_BINARY_DIR}/cmake/archsimConfig.cmake INSTALL_DESTINATION ${archsim_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/archsimConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/archsimConfig.cmake ${PROJECT_BINARY_DIR}/cmake/archsimConfigVersion.cmake
    DESTINATION ${archsim_cmake_dir})

# Relative, so that the installation can be moved.
file(RELATIVE_PATH archsim_pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/archsim.pc.in ${PROJECT_BINARY_DIR}/archsim.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/archsim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
