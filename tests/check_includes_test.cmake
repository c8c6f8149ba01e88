# Checks that tests/check_includes.cmake finds what it is there to find: one small tree per fault, made in WORK_DIR. Run with
# cmake -D SOURCE_DIR=(tests) -D WORK_DIR=... -P check_includes_test.cmake
cmake_minimum_required(VERSION 3.25)

set(graph "module low:\nmodule middle: low\nmodule high: middle\ninterface middle/shared.hpp: high\nlibrary third/: low\n")

# Runs the check on a tree where src/high/a.cpp includes `include`, and whatever else `extra` writes.
function(expect name include sentence)
    set(root ${WORK_DIR}/check_includes)
    file(REMOVE_RECURSE ${root})
    file(WRITE ${root}/src/modules.txt "${graph}${ARGN}")
    file(WRITE ${root}/src/middle/shared.hpp "")
    file(WRITE ${root}/src/middle/own.hpp "")
    file(WRITE ${root}/src/middle/inner/own.hpp "")
    file(WRITE ${root}/src/low/b.cpp "#include <third/x.hpp>\n")
    file(WRITE ${root}/src/high/a.cpp "#include \"middle/shared.hpp\"\n#include ${include}\n")
    execute_process(COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${root} -P ${SOURCE_DIR}/check_includes.cmake
        RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    string(FIND "${output}" "${sentence}" at)
    if(sentence STREQUAL "" AND NOT result EQUAL 0)
        message(SEND_ERROR "${name}: a sound tree is refused: ${output}")
    elseif(NOT sentence STREQUAL "" AND (result EQUAL 0 OR at LESS 0))
        message(SEND_ERROR "${name}: \"${sentence}\" is not reported: ${output}")
    endif()
endfunction()

expect("a module below, directly or not" "\"archsim/low/x.hpp\"" "")
expect("a standard header" "<vector>" "")
expect("a private header" "\"middle/own.hpp\"" "middle/own.hpp is private to middle")
expect("a third-party header" "<third/x.hpp>" "high may not include third/x.hpp")
expect("a header of no module" "\"own.hpp\"" "does not say which module it is of")
expect("an interface that nobody uses" "<vector>" "low no longer includes middle/shared.hpp"
    "interface middle/shared.hpp: high low\n")
expect("an interface that is not there" "<vector>" "there is no middle/gone.hpp" "interface middle/gone.hpp: high\n")
expect("an offered header" "\"middle/own.hpp\"" "" "offers middle: own.hpp\n")
expect("an offer that nobody takes" "<vector>" "no other module includes middle/own.hpp" "offers middle: own.hpp\n")
expect("an offer that is not there" "<vector>" "there is no middle/gone.hpp" "offers middle: gone.hpp\n")
expect("a public header that is not there" "<vector>" "there is no archsim/extend/gone.hpp" "public extend/gone.hpp: low\n")
expect("a header in a module inside a folder" "\"middle/inner/own.hpp\"" "high may not include middle/inner" "module middle/inner: low\noffers middle/inner: own.hpp\n")
expect("a line that means nothing" "<vector>" "cannot be read" "modul extra: low\n")
expect("a cycle" "<vector>" "which is no module above it in the list" "module a: b\nmodule b: a\n")
set(graph "module middle:\nmodule low:\nmodule high: low\nlibrary third/: low\n")
expect("a module that is not below" "\"archsim/middle/x.hpp\"" "high may not include middle")
