# What the command-line tools share (cli/common), which tools there are (every cli/NAME.cpp is the main file of the tool NAME),
# and the program that holds them all (cli/multicall, cli/mcp).

file(GLOB archsim_tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
file(GLOB archsim_cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/common/*.cpp)

file(GLOB archsim_program_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/multicall/*.cpp ${PROJECT_SOURCE_DIR}/cli/mcp/*.cpp)

add_library(archsim_cli STATIC ${archsim_cli_sources})
target_include_directories(archsim_cli PRIVATE ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_compile_features(archsim_cli PUBLIC cxx_std_20)
target_include_directories(archsim_cli PUBLIC ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(archsim_cli PRIVATE CLI11::CLI11 archsim_warnings archsim_fmt)
target_link_libraries(archsim_cli PUBLIC nlohmann_json::nlohmann_json) # schemas of the tools' documents
target_compile_options(archsim_cli PRIVATE "$<$<CONFIG:Release>:${archsim_text_options}>") # as for reports
archsim_share_precompiled(archsim_cli)
set(archsim_cli_grouped ${archsim_cli_sources})
list(FILTER archsim_cli_grouped EXCLUDE REGEX "/(measurement|serving|pair)_options") # which call what few tools are linked with
archsim_group(archsim_cli common 250 ${archsim_cli_grouped})
archsim_targets_of(modules ${archsim_modules_of_common})
target_link_libraries(archsim_cli PUBLIC ${modules})
# The tools are fronts of the library's own: they include what it offers, be it public or not.
target_include_directories(archsim_cli INTERFACE ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
