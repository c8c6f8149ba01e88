# cpack -G DEB: one Debian package with the tools, the data, the library and its headers.

set(CPACK_PACKAGE_NAME archsim)
set(CPACK_PACKAGE_CONTACT "libarchsim maintainers <maintainers@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_depends.cmake) # sets the dependencies
# Loaded when a file of results or a study in YAML is opened; everything else works without them.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libsqlite3-0, libyaml-0-2")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, python3-numpy")
if(ARCHSIM_BUILD_PYTHON)
    set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/prerm)
endif()
if(CMAKE_CROSSCOMPILING)
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
    set(CPACK_ARCHSIM_ROOT ${archsim_root}) # for what sets the dependencies
endif()
include(CPack)
