# The library without its tools. OWNER and SHA512 are those of the repository that the release is taken from.
# Chart.js 3, minified, which reports hold, comes from the caller: set(ARCHSIM_CHART_LIBRARY /place/of/chart.min.js) in the triplet.
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
vcpkg_from_github(
    OUT_SOURCE_PATH SOURCE_PATH
    REPO OWNER/libarchsim
    REF "v${VERSION}"
    SHA512 0
    HEAD_REF main
)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DARCHSIM_BUILD_SHARED=OFF
        -DARCHSIM_BUILD_TOOLS=OFF
        -DARCHSIM_BUILD_TESTS=OFF
        "-DARCHSIM_CHART_LIBRARY=${ARCHSIM_CHART_LIBRARY}"
        "-DARCHSIM_ZLIB=${CURRENT_INSTALLED_DIR}/lib/libz.a"
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME archsim CONFIG_PATH lib/cmake/archsim)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
