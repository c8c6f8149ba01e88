# The tools as one WebAssembly program for Node.js, which npm/ makes a package of: the tools' main files under names of their
# own, the multicall program that calls them, what answers in a program that stays started (src/web), and the system's calls as
# Node.js has them (npm/system.js).

include(cmake/Cli.cmake)

set(ARCHSIM_TOOLS "")
set(list "")
set(declared "// The tools' main functions, in C's language: a definition keeps the one of its declaration.\n")
foreach(source IN LISTS archsim_tool_sources)
    cmake_path(GET source STEM tool)
    list(APPEND ARCHSIM_TOOLS ${tool})
    string(APPEND list "TOOL(${tool})\n")
    string(APPEND declared "extern \"C\" int archsim_main_${tool}(int argc, char** argv);\n")
    set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS main=archsim_main_${tool})
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/multicall/tools.def CONTENT "${list}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/multicall/declared.hpp CONTENT "${declared}")

add_library(archsim_node_tools OBJECT ${archsim_tool_sources})
target_compile_features(archsim_node_tools PRIVATE cxx_std_20)
target_link_libraries(archsim_node_tools PRIVATE archsim_cli archsim_warnings archsim_fmt)
target_include_directories(archsim_node_tools PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(archsim_node_tools PRIVATE "$<$<CONFIG:Release>:${archsim_text_options}>"
    "SHELL:-include ${PROJECT_BINARY_DIR}/multicall/declared.hpp")
archsim_share_precompiled(archsim_node_tools)

add_executable(archsim_node ${archsim_program_sources} ${archsim_web_entry})
set_target_properties(archsim_node PROPERTIES OUTPUT_NAME tools)
target_compile_features(archsim_node PRIVATE cxx_std_20)
target_include_directories(archsim_node PRIVATE
    ${PROJECT_BINARY_DIR}/multicall ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(archsim_node PRIVATE "$<$<CONFIG:Release>:${archsim_text_options}>")
set(archsim_node_libraries archsim_node_tools archsim_cli archsim_web archsim_fit archsim archsim_warnings archsim_fmt)
foreach(library IN LISTS archsim_node_libraries) # else the linker says so, which the page's build does not reach
    if(NOT TARGET ${library})
        message(FATAL_ERROR "the program for Node.js links ${library}, which this configuration does not make")
    endif()
endforeach()
target_link_libraries(archsim_node PRIVATE ${archsim_node_libraries} nlohmann_json::nlohmann_json)
archsim_share_precompiled(archsim_node)
set(archsim_node_system ${PROJECT_SOURCE_DIR}/npm/system.js)
set_target_properties(archsim_node PROPERTIES LINK_DEPENDS ${archsim_node_system})
target_link_options(archsim_node PRIVATE
    -Oz # the whole program once more, for its size: it is downloaded
    -sMODULARIZE=1 -sEXPORT_NAME=createTools -sENVIRONMENT=node,worker -sNODERAWFS=1 -sEXIT_RUNTIME=1 -sINVOKE_RUN=0
    -sNODEJS_CATCH_EXIT=0 -sNODEJS_CATCH_REJECTION=0
    -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=64MB -sMAXIMUM_MEMORY=4GB
    -sEXPORTED_FUNCTIONS=_main,_malloc,_archsim_open_desk,_archsim_answer -sEXPORTED_RUNTIME_METHODS=callMain,ccall,FS,ENV
    --js-library ${archsim_node_system})
foreach(target archsim_cli archsim_node_tools archsim_node)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${PROJECT_SOURCE_DIR}/src/web/shim.hpp>)
endforeach()
