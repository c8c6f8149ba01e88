# What keeps a first build short. Half of a file's compilation is reading standard headers, a third is generating the same
# inline functions (destructors and copies of devices, estimates, results) in every object.
#
# 1. The standard and third-party headers that most files read are precompiled once, and with them the headers of what is
#    estimated and what comes of it: four of five files read those, so that a change of them compiles nearly everything anyhow.
# 2. Files of a module are compiled several at a time: GCC instantiates the templates that precompiled headers use in each
#    file anew, two to three seconds even for an empty one. A file's group follows from a hash of its name, so that a new
#    file leaves the other groups as they are.

# A target of its own makes them, without the definitions that other packages bring.
set(archsim_precompiled_source ${PROJECT_BINARY_DIR}/generated/precompiled.cpp)
file(CONFIGURE OUTPUT ${archsim_precompiled_source} CONTENT "// Carries the precompiled headers.\n")
add_library(archsim_precompiled OBJECT ${archsim_precompiled_source})
target_include_directories(archsim_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(archsim_precompiled PRIVATE archsim_warnings archsim_fmt nlohmann_json::nlohmann_json)
target_compile_features(archsim_precompiled PRIVATE cxx_std_20)
target_precompile_headers(archsim_precompiled PRIVATE
    <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <numeric> <optional> <set>
    <span> <sstream> <string> <string_view> <unordered_map> <variant> <vector>
    <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>
    ${PROJECT_SOURCE_DIR}/include/archsim/run/session.hpp)

function(archsim_share_precompiled)
    foreach(target archsim_precompiled ${ARGN})
        set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    endforeach()
    foreach(target ${ARGN})
        target_precompile_headers(${target} REUSE_FROM archsim_precompiled)
    endforeach()
endfunction()
archsim_share_precompiled(${archsim_objects})

# archsim_group(TARGET NAME KILOBYTES SOURCE...): files that are compiled together, a group for every so many kilobytes.
function(archsim_group target name kilobytes)
    set(bytes 0)
    foreach(source IN LISTS ARGN)
        file(SIZE ${source} size)
        math(EXPR bytes "${bytes} + ${size}")
    endforeach()
    math(EXPR groups "${bytes} / (1000 * ${kilobytes}) + 1")
    foreach(source IN LISTS ARGN)
        cmake_path(GET source FILENAME file)
        string(MD5 hash "${file}")
        string(SUBSTRING ${hash} 0 6 hash)
        math(EXPR group "0x${hash} % ${groups}")
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # In a file of a group GCC takes types of unnamed namespaces for types of a header.
        target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
endfunction()

foreach(target IN LISTS archsim_objects)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    list(REMOVE_ITEM sources ${archsim_asset_source})
    archsim_group(${target} ${target} 250 ${sources})
endforeach()
