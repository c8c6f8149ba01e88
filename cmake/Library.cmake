# libarchsim: compiled once as objects, archived as the static library and, on request, linked as the shared one.

file(GLOB_RECURSE archsim_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(FILTER archsim_sources EXCLUDE REGEX "/src/(python|web)/") # an extension module of its own, the page's module

# What a program that links the library loads besides: nothing but threads, which are part of libc.
set(archsim_private_libraries Threads::Threads)

# What the comparison of models does not use, by beginnings of file names: its tool, the first that README runs, is built
# without them. A file that it did need would be missed by the linker.
set(archsim_later
    capi/ ask/serving_fields
    compare/aligned_regions compare/budget compare/difference compare/estimate_record compare/operator_ import/annotate
    report/answers/budget_ report/answers/difference report/answers/portability run/compare/baseline_file
    run/compare/check_budget run/compare/explain_difference run/portability/
    check/benchmark_app check/benchncnn check/given_output check/hailortcli check/layer_ check/llama_bench check/onnxruntime check/serving_bench check/tool_output check/trtexec
    compare/attribution compare/batch_ compare/breakdown compare/energy_attribution compare/factor_ compare/hybrid
    compare/best_rows compare/displacement compare/sweep compare/time_
    hardware/check hardware/claims hardware/family_schema hardware/json_edit hardware/schema_check machine/entry_file machine/probe map/systolic_cycles
    report/answers/architectures_batches report/answers/architectures_detailed report/answers/architectures_hybrid
    report/answers/architectures_s report/answers/architectures_text report/answers/batch_ report/answers/compare_architectures
    report/answers/check_layers report/answers/comprehensive report/answers/explanation_ report/answers/explanation.cpp
    report/answers/list_verdicts
    report/answers/graph_ report/answers/hardware_ report/answers/limits_of_belief report/answers/mapping_diagram
    report/answers/model_list report/answers/operator_list report/answers/runtime_sheet report/answers/sweep_
    report/answers/this_machine report/blocks/batch_blocks report/blocks/sheet_text
    report/blocks/grouped_subgraphs report/blocks/short_number run/generation/phases
    run/compare/analyze_batch run/compare/architecture_choice run/compare/batch_sweep run/compare/compare_architectures
    run/compare/comprehensive run/compare/flips run/compare/sensitivity run/compare/what_if
    store/history store/read run/compare/model_classes report/answers/model_classes
    report/blocks/architecture_differences
    report/answers/serving report/answers/sizing report/answers/local_ run/local/ run/serving/ run/sizing/ run/session/discover_models run/session/regime run/sweep/ serving/result)
list(JOIN archsim_later "|" archsim_later_pattern)
set(archsim_first_sources ${archsim_sources})
set(archsim_later_sources ${archsim_sources})
list(FILTER archsim_first_sources EXCLUDE REGEX "/src/(${archsim_later_pattern})")
list(FILTER archsim_later_sources INCLUDE REGEX "/src/(${archsim_later_pattern})")

include(cmake/Assets.cmake)
include(cmake/EmbeddedFiles.cmake)
if(NOT EMSCRIPTEN) # for which Debian has no zlib
    include(cmake/Zlib.cmake)
endif()
# Most of the code works for microseconds, so that its compilation, which is what a first build waits for, is cut by a
# quarter by optimising it less: what reads files and asks questions, and, least of all, what writes and describes.
set(archsim_read_pattern "/src/(hardware|import|run)/")
set(archsim_text_pattern "/src/(ask|report|checkpoint|check|capi|machine|store)/")
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
    set(archsim_parts first later)
    set(archsim_kinds read text)
else()
    set(archsim_parts all)
    set(archsim_kinds)
    set(archsim_all_sources ${archsim_sources})
endif()
foreach(part IN LISTS archsim_parts)
    set(rest ${archsim_${part}_sources})
    foreach(kind IN LISTS archsim_kinds)
        set(sources ${rest})
        list(FILTER sources INCLUDE REGEX "${archsim_${kind}_pattern}")
        list(FILTER rest EXCLUDE REGEX "${archsim_${kind}_pattern}")
        add_library(archsim_${part}_${kind}_objects OBJECT ${sources})
        target_compile_options(archsim_${part}_${kind}_objects PRIVATE "$<$<CONFIG:Release>:${archsim_${kind}_options}>")
        list(APPEND archsim_objects archsim_${part}_${kind}_objects)
    endforeach()
    add_library(archsim_${part}_objects OBJECT ${rest})
    list(APPEND archsim_objects archsim_${part}_objects)
endforeach()
# But every start waits for the parser, and a sweep for the numbers that it writes.
set_source_files_properties(
    ${PROJECT_SOURCE_DIR}/src/hardware/json_document.cpp ${PROJECT_SOURCE_DIR}/src/hardware/plain_json.cpp
    ${PROJECT_SOURCE_DIR}/src/report/blocks/short_number.cpp ${PROJECT_SOURCE_DIR}/src/report/answers/sweep_rows.cpp
    PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>")
list(GET archsim_parts 0 part)
target_sources(archsim_${part}_objects PRIVATE ${archsim_asset_source} ${archsim_embedded_source})
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
set(archsim_first ${archsim_objects})
list(FILTER archsim_first INCLUDE REGEX "_(first|all)_")
archsim_library(archsim_first STATIC ${archsim_first})
if(ARCHSIM_BUILD_SHARED)
    archsim_library(archsim_shared SHARED ${archsim_objects})
    set_target_properties(archsim_shared PROPERTIES
        OUTPUT_NAME archsim
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/archsim.map)
    target_link_options(archsim_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/archsim.map)
endif()
