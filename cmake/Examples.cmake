# docs/examples: what users start from; built with the tests so that they stay true.

file(GLOB archsim_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/examples/*.cpp)
foreach(source IN LISTS archsim_examples)
    cmake_path(GET source STEM example)
    add_executable(example_${example} ${source})
    target_link_libraries(example_${example} PRIVATE archsim archsim_warnings)
    target_compile_options(example_${example} PRIVATE $<$<CONFIG:Release>:-O0>) # as the tests
endforeach()

enable_language(C)
file(GLOB archsim_c_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/examples/*.c)
foreach(source IN LISTS archsim_c_examples)
    cmake_path(GET source STEM example)
    add_executable(example_${example}_c ${source})
    set_target_properties(example_${example}_c PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF LINKER_LANGUAGE CXX)
    target_compile_options(example_${example}_c PRIVATE -Wall -Wextra -Wpedantic -Werror)
    target_link_libraries(example_${example}_c PRIVATE archsim)
endforeach()
