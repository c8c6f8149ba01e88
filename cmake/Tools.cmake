# Command-line tools of this machine, with their manual pages, completions and the schemas of their documents.

include(cmake/Cli.cmake)

set(archsim_shell_formats man bash zsh fish schema)
foreach(format man bash zsh fish schemas)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/shell/${format})
endforeach()

set(ARCHSIM_TOOLS "")
foreach(source IN LISTS archsim_tool_sources)
    cmake_path(GET source STEM tool)
    add_executable(${tool} ${source})
    archsim_targets_of(modules ${archsim_modules_of_${tool}})
    target_link_libraries(${tool} PRIVATE archsim_cli ${modules} archsim_warnings archsim_fmt)
    if(NOT ARCHSIM_SANITIZE)
        # A tenth of the time and of the memory of a short question is the loading of the C++ library.
        target_link_options(${tool} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
    endif()
    target_compile_options(${tool} PRIVATE "$<$<CONFIG:Release>:${archsim_text_options}>") # as for reports
    archsim_share_precompiled(${tool})
    list(APPEND ARCHSIM_TOOLS ${tool})
endforeach()
# Manual pages, completions and schemas are what the tools themselves say.
set(ARCHSIM_SHELL_DIR ${PROJECT_BINARY_DIR}/shell)
set(archsim_shell_files "")
foreach(tool IN LISTS ARCHSIM_TOOLS)
    set(files ${ARCHSIM_SHELL_DIR}/man/${tool}.1 ${ARCHSIM_SHELL_DIR}/bash/${tool} ${ARCHSIM_SHELL_DIR}/zsh/_${tool}
        ${ARCHSIM_SHELL_DIR}/fish/${tool}.fish ${ARCHSIM_SHELL_DIR}/schemas/${tool}.schema.json)
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
