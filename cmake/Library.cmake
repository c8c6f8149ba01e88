# libarchsim: compiled once as objects, archived as the static library and, on request, linked as the shared one.

file(GLOB_RECURSE archsim_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(FILTER archsim_sources EXCLUDE REGEX "/src/(python|web)/") # an extension module of its own, the page's module

# What a program that links the library loads besides: nothing but threads, which are part of libc.
set(archsim_private_libraries Threads::Threads)

include(cmake/Assets.cmake)
include(cmake/EmbeddedFiles.cmake)
if(NOT EMSCRIPTEN) # for which Debian has no zlib
    include(cmake/Zlib.cmake)
endif()
# Most of the code works for microseconds, so that its compilation, which is what a first build waits for, is cut by a
# quarter by optimising it less: what reads files and asks questions, and, least of all, what writes and describes.
set(archsim_read_pattern "/src/(hardware|import|session)/")
set(archsim_text_pattern "/src/(answers|fields|report|checkpoint|measurements|capi|machine|store)/")
set(archsim_read_options -O1)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(archsim_text_options -Og -Wno-maybe-uninitialized) # <regex> (PR105562), at this level too
else() # to clang the same; Emscripten does not know the other name
    set(archsim_text_options -O1)
endif()
# Clang compiles for the sanitizers and for WebAssembly, where nothing of this is at stake: all sources are one target. Its groups of files
# (cmake/BuildTime.cmake) are larger, and generate what they share once.
set(archsim_objects)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(archsim_kinds read text)
else()
    set(archsim_kinds)
endif()
set(rest ${archsim_sources})
foreach(kind IN LISTS archsim_kinds)
    set(sources ${rest})
    list(FILTER sources INCLUDE REGEX "${archsim_${kind}_pattern}")
    list(FILTER rest EXCLUDE REGEX "${archsim_${kind}_pattern}")
    add_library(archsim_${kind}_objects OBJECT ${sources})
    target_compile_options(archsim_${kind}_objects PRIVATE "$<$<CONFIG:Release>:${archsim_${kind}_options}>")
    list(APPEND archsim_objects archsim_${kind}_objects)
endforeach()
add_library(archsim_all_objects OBJECT ${rest})
list(APPEND archsim_objects archsim_all_objects)
# But every start waits for the parser, and a sweep for the numbers that it writes.
set_source_files_properties(
    ${PROJECT_SOURCE_DIR}/src/hardware/json_document.cpp ${PROJECT_SOURCE_DIR}/src/hardware/plain_json.cpp
    ${PROJECT_SOURCE_DIR}/src/answers/sweep/short_number.cpp ${PROJECT_SOURCE_DIR}/src/answers/sweep/sweep_rows.cpp
    PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>")
target_sources(archsim_all_objects PRIVATE ${archsim_asset_source} ${archsim_embedded_source})
foreach(target IN LISTS archsim_objects)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target}
        PUBLIC ${PROJECT_SOURCE_DIR}/include
        PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_include_directories(${target} SYSTEM PRIVATE ${ARCHSIM_PROTOZERO})
    target_link_libraries(${target} PRIVATE
        archsim_warnings ${archsim_private_libraries} archsim_fmt nlohmann_json::nlohmann_json Eigen3::Eigen Boost::headers
        valijson)
endforeach()
include(cmake/BuildTime.cmake)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/version.cpp PROPERTIES
    COMPILE_DEFINITIONS "ARCHSIM_VERSION=\"${PROJECT_VERSION}\"")
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/core/data_dir.cpp PROPERTIES
    COMPILE_DEFINITIONS "ARCHSIM_FALLBACK_DATA_DIR=\"${ARCHSIM_FALLBACK_DATA_DIR}\"")

function(archsim_library target kind)
    set(objects ${ARGN})
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

archsim_library(archsim STATIC ${archsim_objects})
if(ARCHSIM_BUILD_SHARED)
    archsim_library(archsim_shared SHARED ${archsim_objects})
    set_target_properties(archsim_shared PROPERTIES
        OUTPUT_NAME archsim
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/archsim.map)
    target_link_options(archsim_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/archsim.map)
endif()
