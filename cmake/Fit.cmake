# fit/: how the library earns belief. Fits, left-out runs, the making of intervals, and validation, for the tools
# validate_estimates and calibrate_device; no part of the library that programs link.

file(GLOB_RECURSE archsim_fit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fit/*.cpp)
add_library(archsim_fit STATIC ${archsim_fit_sources})
target_compile_features(archsim_fit PUBLIC cxx_std_20)
target_include_directories(archsim_fit PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
archsim_targets_of(links ${archsim_links_of_fit})
target_link_libraries(archsim_fit
    PRIVATE archsim_warnings archsim_fmt nlohmann_json::nlohmann_json Eigen3::Eigen
    PUBLIC ${links})
# Almost all of its time are estimates, which the library makes; but for fits that many rows share, and of the errors' variances.
target_compile_options(archsim_fit PRIVATE "$<$<CONFIG:Release>:-O1>")
set_source_files_properties(${PROJECT_SOURCE_DIR}/fit/errors/error_fit.cpp ${PROJECT_SOURCE_DIR}/fit/parameters/fit.cpp
    PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>")
archsim_share_precompiled(archsim_fit)
set(archsim_fit_grouped ${archsim_fit_sources}) # but those with options of their own
list(FILTER archsim_fit_grouped EXCLUDE REGEX "/(error_fit|fit)\\.cpp$")
foreach(folder IN ITEMS errors parameters report rows)
    set(sources ${archsim_fit_grouped})
    list(FILTER sources INCLUDE REGEX "/fit/${folder}/")
    archsim_group(archsim_fit ${folder} 250 ${sources})
endforeach()
