# Command-line tools: every cli/NAME.cpp is the main file of the tool NAME; what they share is in cli/common.

file(GLOB archsim_tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
file(GLOB archsim_cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/common/*.cpp)

add_library(archsim_cli STATIC ${archsim_cli_sources})
target_include_directories(archsim_cli PRIVATE ${PROJECT_SOURCE_DIR}/cli)
target_link_libraries(archsim_cli PUBLIC archsim PRIVATE CLI11::CLI11 archsim_warnings archsim_fmt)
archsim_share_precompiled(archsim_cli)
target_include_directories(archsim_cli INTERFACE ${PROJECT_SOURCE_DIR}/cli)

set(archsim_shell_formats man bash zsh fish)
foreach(format IN LISTS archsim_shell_formats)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/shell/${format})
endforeach()

set(ARCHSIM_TOOLS "")
foreach(source IN LISTS archsim_tool_sources)
    cmake_path(GET source STEM tool)
    add_executable(${tool} ${source})
    target_link_libraries(${tool} PRIVATE archsim_cli archsim_warnings archsim_fmt)
    archsim_share_precompiled(${tool})
    list(APPEND ARCHSIM_TOOLS ${tool})
endforeach()
# Manual pages and completions are what the tools themselves say.
set(ARCHSIM_SHELL_DIR ${PROJECT_BINARY_DIR}/shell)
set(archsim_shell_files "")
foreach(tool IN LISTS ARCHSIM_TOOLS)
    set(files ${ARCHSIM_SHELL_DIR}/man/${tool}.1 ${ARCHSIM_SHELL_DIR}/bash/${tool} ${ARCHSIM_SHELL_DIR}/zsh/_${tool}
        ${ARCHSIM_SHELL_DIR}/fish/${tool}.fish)
    set(commands "")
    foreach(format file IN ZIP_LISTS archsim_shell_formats files)
        list(APPEND commands COMMAND ${tool} --help-format ${format} > ${file})
    endforeach()
    add_custom_command(OUTPUT ${files} ${commands} DEPENDS ${tool} VERBATIM)
    list(APPEND archsim_shell_files ${files})
endforeach()
add_custom_target(archsim_shell_files ALL DEPENDS ${archsim_shell_files})

add_custom_target(archsim_tools)
if(ARCHSIM_TOOLS)
    add_dependencies(archsim_tools ${ARCHSIM_TOOLS})
endif()
