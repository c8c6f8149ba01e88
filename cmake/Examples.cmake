# docs/examples: what users start from; built with the tests so that they stay true.

file(GLOB archsim_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/examples/*.cpp)
foreach(source IN LISTS archsim_examples)
    cmake_path(GET source STEM example)
    add_executable(example_${example} ${source})
    target_link_libraries(example_${example} PRIVATE archsim archsim_warnings)
endforeach()

enable_language(C)
add_executable(example_estimate_c ${PROJECT_SOURCE_DIR}/docs/examples/estimate.c)
set_target_properties(example_estimate_c PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF LINKER_LANGUAGE CXX)
target_compile_options(example_estimate_c PRIVATE -Wall -Wextra -Wpedantic -Werror)
target_link_libraries(example_estimate_c PRIVATE archsim)
