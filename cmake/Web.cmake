# The page's module: questions in, answers out (src/web). For the page it is linked with the library to one WebAssembly
# module, for the tests of the answers to a library of this machine.

file(GLOB archsim_web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/web/*.cpp)
set(archsim_web_entry ${PROJECT_SOURCE_DIR}/src/web/entry.cpp)
list(REMOVE_ITEM archsim_web_sources ${archsim_web_entry})

add_library(archsim_web STATIC ${archsim_web_sources})
target_compile_features(archsim_web PUBLIC cxx_std_20)
target_include_directories(archsim_web PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(archsim_web PUBLIC archsim PRIVATE archsim_warnings archsim_fmt nlohmann_json::nlohmann_json)
set_target_properties(archsim_web PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE 0)
archsim_share_precompiled(archsim_web)

if(EMSCRIPTEN)
    add_executable(archsim_module ${archsim_web_entry})
    set_target_properties(archsim_module PROPERTIES OUTPUT_NAME archsim)
    target_include_directories(archsim_module PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(archsim_module PRIVATE archsim_web archsim_warnings archsim_fmt)
    target_link_options(archsim_module PRIVATE
        --no-entry -sMODULARIZE=1 -sEXPORT_NAME=createArchsim -sENVIRONMENT=worker,node
        -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=64MB
        -sEXPORTED_FUNCTIONS=_archsim_open_desk,_archsim_answer -sEXPORTED_RUNTIME_METHODS=ccall,FS,WORKERFS
        -sFORCE_FILESYSTEM=1 -lworkerfs.js)
    foreach(target IN ITEMS archsim_precompiled archsim_web archsim_module ${archsim_objects})
        target_compile_options(${target} PRIVATE
            $<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${PROJECT_SOURCE_DIR}/src/web/shim.hpp>)
    endforeach()
    set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/answers/sweep/sweep_rows.cpp APPEND PROPERTY
        COMPILE_OPTIONS -include ${PROJECT_SOURCE_DIR}/src/web/shim_to_chars.hpp)
endif()
