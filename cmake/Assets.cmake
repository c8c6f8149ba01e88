# The style, script and chart library of HTML reports as C++ strings in a generated source file.

# Chart.js comes from Debian and is never kept in the sources.
find_file(ARCHSIM_CHART_LIBRARY chart.min.js
    PATHS ${PROJECT_SOURCE_DIR}/build/packages/usr/share/javascript/chart.js /usr/share/javascript/chart.js
    NO_CMAKE_FIND_ROOT_PATH
    DOC "Chart.js 3, minified")
if(NOT ARCHSIM_CHART_LIBRARY)
    message(FATAL_ERROR "chart.min.js was not found: run scripts/setup, or install libjs-chart.js")
endif()

set(archsim_asset_source ${PROJECT_BINARY_DIR}/generated/report_assets.cpp)
set(archsim_asset_folder ${PROJECT_SOURCE_DIR}/src/report/assets)
add_custom_command(
    OUTPUT ${archsim_asset_source}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${archsim_asset_source}
        -D report_style=${archsim_asset_folder}/report.css
        -D report_script=${archsim_asset_folder}/report.js
        -D chart_library=${ARCHSIM_CHART_LIBRARY}
        -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${archsim_asset_folder}/report.css ${archsim_asset_folder}/report.js ${ARCHSIM_CHART_LIBRARY}
        ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
# Every compiler must accept strings of 64 KB; GCC and clang accept any.
set_source_files_properties(${archsim_asset_source} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
