# The tools as one program (cli/multicall/archsim.cpp), from the objects that they are linked from: what is installed, and
# what runs alone wherever it is copied.

set(archsim_multicall_objects "")
set(list "")
foreach(tool IN LISTS ARCHSIM_TOOLS)
    set(object ${PROJECT_BINARY_DIR}/multicall/${tool}.o)
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_OBJCOPY} --redefine-sym main=archsim_main_${tool} $<TARGET_OBJECTS:${tool}> ${object}
        DEPENDS $<TARGET_OBJECTS:${tool}> VERBATIM)
    list(APPEND archsim_multicall_objects ${object})
    string(APPEND list "TOOL(${tool})\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/multicall/tools.def CONTENT "${list}")
add_custom_target(archsim_tool_objects DEPENDS ${archsim_multicall_objects})
set_source_files_properties(${archsim_multicall_objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

add_library(archsim_multicall_main OBJECT ${archsim_program_sources})
target_include_directories(archsim_multicall_main PRIVATE ${PROJECT_BINARY_DIR}/multicall
    ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_features(archsim_multicall_main PRIVATE cxx_std_20)
target_compile_options(archsim_multicall_main PRIVATE "$<$<CONFIG:Release>:${archsim_text_options}>") # as for reports
target_link_libraries(archsim_multicall_main PRIVATE archsim_warnings archsim_fmt nlohmann_json::nlohmann_json)
archsim_share_precompiled(archsim_multicall_main)
set(archsim_program_grouped ${archsim_program_sources})
list(FILTER archsim_program_grouped EXCLUDE REGEX "/multicall/archsim\\.cpp$") # whose object the Python package takes
archsim_group(archsim_multicall_main program 250 ${archsim_program_grouped})

# archsim_multicall(TARGET FOLDER): the program, which needs no other library of ours.
function(archsim_multicall target folder)
    add_executable(${target} $<TARGET_OBJECTS:archsim_multicall_main> ${archsim_multicall_objects})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${target} PRIVATE archsim_cli archsim_fit archsim archsim_warnings)
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME archsim RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/multicall/${folder})
    if(NOT ARCHSIM_SANITIZE)
        target_link_options(${target} PRIVATE -Wl,--gc-sections)
    endif()
endfunction()

# Runs with the C library alone, 2.34 or newer. For scripts/release.
archsim_multicall(archsim_portable portable)
target_sources(archsim_portable PRIVATE ${PROJECT_SOURCE_DIR}/cli/portable/older_libc.cpp)
target_link_options(archsim_portable PRIVATE -static-libstdc++ -static-libgcc -s)
set_target_properties(archsim_portable PROPERTIES EXCLUDE_FROM_ALL ON)

archsim_multicall(archsim_multicall installed)
