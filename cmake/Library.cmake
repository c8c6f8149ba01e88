# libarchsim: the objects of its modules, archived as the static library and, on request, linked as the shared one.

# What a program that links the library loads besides: nothing but threads, which are part of libc.
set(archsim_private_libraries Threads::Threads)

include(cmake/Assets.cmake)
include(cmake/EmbeddedFiles.cmake)
if(NOT EMSCRIPTEN) # for which Debian has no zlib
    include(cmake/Zlib.cmake)
endif()
include(cmake/Modules.cmake)
target_sources(archsim_report PRIVATE ${archsim_asset_source})
target_sources(archsim_core PRIVATE ${archsim_embedded_source} ${archsim_inflate_object})
include(cmake/BuildTime.cmake)
# RapidJSON 1.1 adds to a null pointer where a stack of it is still empty.
if(ARCHSIM_SANITIZE MATCHES "undefined")
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/json_document.cpp PROPERTIES
        COMPILE_OPTIONS -fno-sanitize=pointer-overflow)
endif()
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/version.cpp PROPERTIES
    COMPILE_DEFINITIONS "ARCHSIM_VERSION=\"${PROJECT_VERSION}\"")
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/data_dir.cpp PROPERTIES
    COMPILE_DEFINITIONS "ARCHSIM_FALLBACK_DATA_DIR=\"${ARCHSIM_FALLBACK_DATA_DIR}\"")

function(archsim_library target kind)
    set(objects ${archsim_objects})
    list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
    add_library(${target} ${kind} ${objects} ${archsim_inflate_object})
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PRIVATE ${archsim_private_libraries})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    add_library(archsim::${target} ALIAS ${target})
endfunction()

archsim_library(archsim STATIC)
if(ARCHSIM_BUILD_SHARED)
    archsim_library(archsim_shared SHARED)
    set_target_properties(archsim_shared PROPERTIES
        OUTPUT_NAME archsim
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/archsim.map)
    target_link_options(archsim_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/archsim.map)
endif()
