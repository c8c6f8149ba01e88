# The examples in the documentation comments of the public headers, one program each: they compile, and what they assert
# holds. Run as a script it writes the program of one header: -D HEADER=archsim/a/b.hpp -D FROM=FILE -D TO=FILE.

if(CMAKE_SCRIPT_MODE_FILE)
    file(READ ${FROM} text)
    set(body "")
    set(calls "")
    string(REPLACE ";" "\\;" text "${text}")
    string(REGEX MATCHALL "/// @code\n(///[^\n]*\n)*/// @endcode" examples "${text}")
    set(number 0)
    foreach(example IN LISTS examples)
        math(EXPR number "${number} + 1")
        string(REGEX REPLACE "/// @code\n|/// @endcode.*" "" example "${example}")
        string(REGEX REPLACE "(^|\n)/// ?" "\\1" example "${example}")
        string(APPEND body "void example_${number}() {\n${example}}\n")
        string(APPEND calls "    example_${number}();\n")
    endforeach()
    file(WRITE ${TO} "#include <${HEADER}>
#include <archsim/core/data_dir.hpp>
#include <archsim/run/session.hpp>
#undef NDEBUG
#include <algorithm>
#include <cassert>
#include <cstdio>

using namespace archsim;

namespace {
${body}} // namespace

int main() {
${calls}}
")
    return()
endif()

file(GLOB_RECURSE archsim_headers RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/include/*.hpp)
foreach(header IN LISTS archsim_headers)
    set(from ${PROJECT_SOURCE_DIR}/include/${header})
    file(STRINGS ${from} examples REGEX "^ */// @code")
    if(NOT examples)
        continue()
    endif()
    string(MAKE_C_IDENTIFIER "${header}" name)
    string(REGEX REPLACE "^archsim_|_hpp$" "" name "${name}")
    set(source ${PROJECT_BINARY_DIR}/generated/doc_examples/${name}.cpp)
    add_custom_command(OUTPUT ${source} DEPENDS ${from} ${CMAKE_CURRENT_LIST_FILE}
        COMMAND ${CMAKE_COMMAND} -D HEADER=${header} -D FROM=${from} -D TO=${source} -P ${CMAKE_CURRENT_LIST_FILE})
    add_executable(doc_example_${name} ${source})
    target_link_libraries(doc_example_${name} PRIVATE archsim archsim_warnings)
    target_compile_options(doc_example_${name} PRIVATE $<$<CONFIG:Release>:-O0>) # as the tests
    add_test(NAME "example of ${header}" COMMAND doc_example_${name})
    set_tests_properties("example of ${header}" PROPERTIES ENVIRONMENT ARCHSIM_DATA_DIR=${PROJECT_SOURCE_DIR})
endforeach()
