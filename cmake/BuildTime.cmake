# What keeps a first build short. Half of a file's compilation is reading standard headers, a third is generating the same
# inline functions (destructors and copies of devices, estimates, results) in every object.
#
# 1. The standard and third-party headers that most files read are precompiled once, and with them the headers of what is
#    estimated and what comes of it: four of five files read those, so that a change of them compiles nearly everything anyhow.
# 2. Files of modules in which this pays are compiled several at a time. A file's group follows from a hash of its name, so
#    that a new file leaves the other groups as they are. The files of families stay apart: they are what is edited most.

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

# One large file does without them, so that the second core has work while the first precompiles.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/hardware/json_document.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

# archsim_group(ROOT FOLDER:GROUPS... SOURCES FILE...): the files below a folder of ROOT become that many groups.
function(archsim_group root)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" SOURCES)
    foreach(entry IN LISTS arg_UNPARSED_ARGUMENTS)
        string(REGEX MATCH "^([a-z_/]+):([0-9]+)$" entry "${entry}")
        set(folder ${CMAKE_MATCH_1})
        set(groups ${CMAKE_MATCH_2})
        set(sources ${arg_SOURCES})
        list(FILTER sources INCLUDE REGEX "^${root}/${folder}/")
        foreach(source IN LISTS sources)
            cmake_path(GET source FILENAME name)
            string(MD5 hash "${name}")
            string(SUBSTRING ${hash} 0 6 hash)
            math(EXPR group "0x${hash} % ${groups}")
            set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
        endforeach()
    endforeach()
endfunction()

set_target_properties(${archsim_objects} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
set(archsim_grouped ${archsim_sources})
list(FILTER archsim_grouped EXCLUDE REGEX "/family/[a-z]+\\.cpp$") # whose unnamed namespaces use the same names
archsim_group(${PROJECT_SOURCE_DIR}/src
    answers/architectures:1 answers/batch:1 answers/budget:1 answers/compare:1 answers/difference:1 answers/hardware:1 answers/mapping:1
    answers/measuring:1 answers/portability:1 answers/serving:1 answers/sizing:1 answers/study:1 answers/sweep:1
    capi:1 core:1 checkpoint:1 estimate:1 family:1 fields:1 graph:1 hardware:2 import:1 machine:1 map:2 measurements:1 ops:2
    partition:1 report:2 result:1 serving:1 session:2 store:1
    SOURCES ${archsim_grouped})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # In a file of a group GCC takes types of unnamed namespaces for types of a header.
    foreach(target IN LISTS archsim_objects)
        target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endforeach()
endif()
