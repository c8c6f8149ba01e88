# libarchsim: compiled once as objects, archived as the static library and, on request, linked as the shared one.

file(GLOB_RECURSE archsim_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(FILTER archsim_sources EXCLUDE REGEX "/src/python/") # an extension module of its own

# What a program that links the library loads besides: nothing but threads, which are part of libc.
set(archsim_private_libraries Threads::Threads)

include(cmake/Assets.cmake)
include(cmake/EmbeddedFiles.cmake)
add_library(archsim_objects OBJECT ${archsim_sources} ${archsim_asset_source} ${archsim_embedded_source})
target_compile_features(archsim_objects PUBLIC cxx_std_20)
target_include_directories(archsim_objects
    PUBLIC ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(archsim_objects SYSTEM PRIVATE ${ARCHSIM_PROTOZERO})
target_link_libraries(archsim_objects PRIVATE
    archsim_warnings ${archsim_private_libraries} archsim_fmt nlohmann_json::nlohmann_json Eigen3::Eigen Boost::headers
    valijson)
include(cmake/BuildTime.cmake)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/version.cpp PROPERTIES
    COMPILE_DEFINITIONS "ARCHSIM_VERSION=\"${PROJECT_VERSION}\"")
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/data_dir.cpp PROPERTIES
    COMPILE_DEFINITIONS "ARCHSIM_FALLBACK_DATA_DIR=\"${ARCHSIM_FALLBACK_DATA_DIR}\"")

function(archsim_library target kind)
    add_library(${target} ${kind} $<TARGET_OBJECTS:archsim_objects>)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PRIVATE ${archsim_private_libraries})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME archsim LINKER_LANGUAGE CXX)
    add_library(archsim::${target} ALIAS ${target})
endfunction()

archsim_library(archsim STATIC)
if(ARCHSIM_BUILD_SHARED)
    archsim_library(archsim_shared SHARED)
    set_target_properties(archsim_shared PROPERTIES
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/archsim.map)
    target_link_options(archsim_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/archsim.map)
endif()
