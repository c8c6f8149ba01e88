# The examples in the documentation comments of headers: they compile, each header's with no other header's includes
# but what every program has (archsim/archsim.hpp), and what they assert holds. One program runs them, asked for one header at a time. Run as a script it writes
# the source of one header: -D HEADER=archsim/a/b.hpp -D NAME=a_b -D FROM=FILE -D TO=FILE.

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
#include \"core/data_dir.hpp\"
#include <archsim/run/session.hpp>
#undef NDEBUG
#include <algorithm>
#include <cassert>
#include <cstdio>

using namespace archsim;

namespace {
${body}} // namespace

void examples_of_${NAME}();
void examples_of_${NAME}() {
${calls}}
")
    return()
endif()

file(GLOB_RECURSE archsim_public RELATIVE ${PROJECT_SOURCE_DIR}/include CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/include/*.hpp)
file(GLOB_RECURSE archsim_headers RELATIVE ${PROJECT_SOURCE_DIR}/src CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.hpp)
list(APPEND archsim_headers ${archsim_public})
set(sources "")
set(declarations "")
set(table "")
foreach(header IN LISTS archsim_headers)
    set(from ${PROJECT_SOURCE_DIR}/src/${header})
    if(header IN_LIST archsim_public)
        set(from ${PROJECT_SOURCE_DIR}/include/${header})
    endif()
    file(STRINGS ${from} examples REGEX "^ */// @code")
    if(NOT examples)
        continue()
    endif()
    string(MAKE_C_IDENTIFIER "${header}" name)
    string(REGEX REPLACE "^archsim_|_hpp$" "" name "${name}")
    set(source ${PROJECT_BINARY_DIR}/generated/doc_examples/${name}.cpp)
    add_custom_command(OUTPUT ${source} DEPENDS ${from} ${CMAKE_CURRENT_LIST_FILE}
        COMMAND ${CMAKE_COMMAND} -D HEADER=${header} -D NAME=${name} -D FROM=${from} -D TO=${source}
            -P ${CMAKE_CURRENT_LIST_FILE})
    list(APPEND sources ${source})
    string(APPEND declarations "void examples_of_${name}();\n")
    string(APPEND table "    if (std::string_view(header) == \"${header}\")\n        return examples_of_${name}(), 0;\n")
    add_test(NAME "example of ${header}" COMMAND archsim_doc_examples ${header})
    set_tests_properties("example of ${header}" PROPERTIES ENVIRONMENT ARCHSIM_DATA_DIR=${PROJECT_SOURCE_DIR})
endforeach()
set(main ${PROJECT_BINARY_DIR}/generated/doc_examples/main.cpp)
file(CONFIGURE OUTPUT ${main} @ONLY CONTENT "#include <string_view>

@declarations@
int main(int argc, char** argv) {
    const char* header = argc == 2 ? argv[1] : \"\";
@table@    return 1; // a header without examples
}
")
add_executable(archsim_doc_examples ${sources} ${main})
target_include_directories(archsim_doc_examples PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(archsim_doc_examples PRIVATE archsim archsim_warnings)
target_compile_options(archsim_doc_examples PRIVATE $<$<CONFIG:Release>:-O0>) # as the tests
# What every one of them includes besides its own header.
target_precompile_headers(archsim_doc_examples PRIVATE
    <archsim/archsim.hpp> <algorithm> <cstdio>)
