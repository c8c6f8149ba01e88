# The modules of src/modules.txt as targets: a static library each, which links those that it may include. A program names
# the modules that it uses, and the linker takes of them what it needs.

set(archsim_module_file ${PROJECT_SOURCE_DIR}/src/modules.txt)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${archsim_module_file})
set(archsim_modules "")
set(archsim_fast_modules "")
file(STRINGS ${archsim_module_file} lines REGEX "^(module|links|tool|fast)[ :]")
foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z]+) ?([^: ]*):(.*)$" line "${line}")
    set(kind ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2})
    string(REGEX MATCHALL "[^ ]+" users "${CMAKE_MATCH_3}")
    if(kind STREQUAL "fast")
        list(APPEND archsim_fast_modules ${users})
    elseif(kind STREQUAL "tool")
        set(archsim_modules_of_${name} ${users})
    else()
        list(APPEND archsim_modules ${name})
        list(APPEND archsim_links_of_${name} ${users})
    endif()
endforeach()
list(REMOVE_DUPLICATES archsim_modules)
# Fronts of their own, which other files make targets of.
list(REMOVE_ITEM archsim_modules cli fit python web)

# archsim_targets_of(OUT MODULE...): their targets.
function(archsim_targets_of out)
    set(targets "")
    foreach(module IN LISTS ARGN)
        string(REPLACE "/" "_" target "archsim_${module}")
        list(APPEND targets ${target})
    endforeach()
    set(${out} ${targets} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE archsim_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
# A module's files lie in its folder, but for those of modules inside it.
foreach(module IN LISTS archsim_modules)
    set(sources_of_${module} "")
endforeach()
foreach(source IN LISTS archsim_sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src)
    while(NOT folder STREQUAL "" AND NOT folder IN_LIST archsim_modules)
        cmake_path(GET folder PARENT_PATH folder)
    endwhile()
    if(NOT folder STREQUAL "")
        list(APPEND sources_of_${folder} ${source})
    endif()
endforeach()

# Most of the code works for microseconds, so that its compilation, which is what a first build waits for, is cut by a third
# by optimising it less: all but the modules that src/modules.txt calls fast.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(archsim_text_options -Og -Wno-maybe-uninitialized) # <regex> (PR105562), at this level too
else() # to clang the same; Emscripten does not know the other name
    set(archsim_text_options -O1)
endif()

set(archsim_objects "") # the targets that have some
foreach(module IN LISTS archsim_modules)
    archsim_targets_of(target ${module})
    archsim_targets_of(links ${archsim_links_of_${module}})
    if(NOT sources_of_${module})
        add_library(${target} INTERFACE)
        target_link_libraries(${target} INTERFACE ${links})
        continue()
    endif()
    add_library(${target} STATIC ${sources_of_${module}})
    list(APPEND archsim_objects ${target})
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target}
        PUBLIC ${PROJECT_SOURCE_DIR}/include
        PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_include_directories(${target} SYSTEM PRIVATE ${ARCHSIM_PROTOZERO} ${ARCHSIM_RAPIDJSON})
    target_link_libraries(${target}
        PRIVATE archsim_warnings archsim_fmt nlohmann_json::nlohmann_json Boost::headers valijson
        PUBLIC ${links} ${archsim_private_libraries})
    if(NOT module IN_LIST archsim_fast_modules)
        target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:${archsim_text_options}>")
    endif()
endforeach()
