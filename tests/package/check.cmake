# Installs the build into a scratch folder and uses the installation through find_package (static and shared) and
# through pkg-config; then uses the sources through add_subdirectory.
# cmake -D BUILD_DIR=... -D SOURCE_DIR=... -D COMPILER=... -D LIB_DIR=... -P check.cmake
cmake_minimum_required(VERSION 3.25)

set(scratch ${BUILD_DIR}/package-test)
set(prefix ${scratch}/prefix)
file(REMOVE_RECURSE ${scratch})

function(run)
    execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "failed: ${ARGN}\n${said}")
    endif()
    set(said "${said}" PARENT_SCOPE)
endfunction()

function(expect_macs program)
    # He et al. 2016 give 1.8e9 multiply-adds for ResNet-18 at 224 x 224.
    run(${program} ${prefix}/share/archsim/models/onnx/resnet18.onnx batch=1 height=224 width=224)
    if(NOT said MATCHES ": 18[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9] MACs")
        message(FATAL_ERROR "${program} printed: ${said}")
    endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
foreach(header_of IN ITEMS nlohmann onnx google CLI boost Eigen fmt)
    execute_process(COMMAND grep -rlE "#include <${header_of}/" ${prefix}/include OUTPUT_VARIABLE leaks)
    if(leaks)
        message(FATAL_ERROR "public headers include ${header_of}: ${leaks}")
    endif()
endforeach()

# Only our own names leave the shared library.
file(GLOB shared ${prefix}/${LIB_DIR}/libarchsim.so)
find_program(nm nm REQUIRED)
run(${nm} --dynamic --demangle --defined-only ${shared})
foreach(leak IN ITEMS nlohmann:: onnx:: google:: CLI:: boost:: Eigen:: valijson::)
    if(said MATCHES "[0-9a-f]+ [TWVBD] (typeinfo [a-z ]*|vtable for )?${leak}")
        message(FATAL_ERROR "the shared library exports symbols of ${leak}")
    endif()
endforeach()

# And few of them: those of the installed headers, of C, and what the compiler makes of their classes.
string(REGEX MATCHALL "[^\n]+" exported "${said}")
list(LENGTH exported count)
if(count GREATER 160)
    message(FATAL_ERROR "the shared library exports ${count} symbols, 160 are allowed: ARCHSIM_API belongs to headers that are installed")
endif()

# A tool of the installation finds the data beside it.
run(${CMAKE_COMMAND} -E env --unset=ARCHSIM_DATA_DIR ${prefix}/bin/profile_graph resnet18 --top 1)

# Its manual page names every tool, and bash completes tools and what they take.
run(${prefix}/bin/archsim --help)
string(REGEX MATCHALL "\n  [a-z_]+" tools "${said}")
list(LENGTH tools count)
file(READ ${prefix}/share/man/man1/archsim.1 page)
foreach(tool IN LISTS tools)
    string(STRIP "${tool}" tool)
    if(NOT page MATCHES "\n.BR? ${tool}[ \n]")
        message(FATAL_ERROR "archsim.1 does not name ${tool}")
    endif()
endforeach()
if(count LESS 20)
    message(FATAL_ERROR "archsim --help names ${count} tools")
endif()
foreach(typed IN ITEMS "compare --hard" "history --regr" "explain_diff")
    run(bash -c "PATH=${prefix}/bin:$PATH && . ${prefix}/share/bash-completion/completions/archsim &&
        COMP_WORDS=(archsim ${typed}) && COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) && _archsim && echo \"\${COMPREPLY[*]}\"")
    if(NOT said MATCHES "--hardware |--regressions|explain_difference")
        message(FATAL_ERROR "archsim ${typed} is completed as: ${said}")
    endif()
endforeach()

# Programs that did not change since the last run come out of the compiler cache, as the library's objects do.
find_program(ccache ccache)
set(cached_compiler ${COMPILER})
set(launcher "")
if(ccache)
    set(ENV{CCACHE_SLOPPINESS} pch_defines,time_macros) # as cmake/CompilerOptions.cmake
    set(ENV{CCACHE_DEPEND} 1)
    set(cached_compiler ${ccache} ${COMPILER})
    set(launcher -D CMAKE_CXX_COMPILER_LAUNCHER=${ccache})
endif()

cmake_path(GET SOURCE_DIR PARENT_PATH tests_dir)
cmake_path(GET tests_dir PARENT_PATH project_dir)
file(GLOB examples ${project_dir}/docs/examples/*.cpp ${project_dir}/docs/examples/*.c)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${scratch}/find_package -G Ninja -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_CXX_COMPILER=${COMPILER} ${launcher} -D ARCHSIM_EXAMPLES=${project_dir}/docs/examples)
run(${CMAKE_COMMAND} --build ${scratch}/find_package)
expect_macs(${scratch}/find_package/consumer)
# The data is found beside the shared library, wherever the program lies.
run(${CMAKE_COMMAND} -E env --unset=ARCHSIM_DATA_DIR ${scratch}/find_package/shared_consumer)
if(NOT said MATCHES "estimated")
    message(FATAL_ERROR "shared_consumer printed: ${said}")
endif()

find_program(pkg_config pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIB_DIR}/pkgconfig)
run(${pkg_config} --cflags archsim)
separate_arguments(flags UNIX_COMMAND "${said}")
run(${cached_compiler} -std=c++20 ${flags} -c ${SOURCE_DIR}/consumer.cpp -o ${scratch}/pkg_config_consumer.o)
run(${pkg_config} --static --libs archsim)
separate_arguments(flags UNIX_COMMAND "${said}")
run(${COMPILER} ${scratch}/pkg_config_consumer.o -o ${scratch}/pkg_config_consumer ${flags})
set(ENV{LD_LIBRARY_PATH} ${prefix}/${LIB_DIR})
expect_macs(${scratch}/pkg_config_consumer)

# Every example of the documents, started anywhere, finds the catalogue: linked with either library, by pkg-config or by
# find_package, and says the same.
run(${pkg_config} --cflags archsim)
separate_arguments(compile UNIX_COMMAND "${said}")
run(${pkg_config} --static --libs-only-l archsim)
string(REPLACE "-larchsim" "" static "${said}")
separate_arguments(static UNIX_COMMAND "${static}")
run(${pkg_config} --libs archsim)
separate_arguments(shared UNIX_COMMAND "${said}")
foreach(example IN LISTS examples)
    cmake_path(GET example FILENAME name)
    set(language -std=c++20)
    if(name MATCHES "[.]c$")
        set(language -x c -std=c99)
    endif()
    set(object ${scratch}/${name}.o)
    run(${cached_compiler} ${language} ${compile} -c ${example} -o ${object})
    run(${COMPILER} ${object} ${prefix}/${LIB_DIR}/libarchsim.a ${static} -o ${scratch}/${name}.static)
    run(${COMPILER} ${object} ${shared} -o ${scratch}/${name}.shared)
    set(first "")
    set(arguments "")
    if(name MATCHES "own_operator") # which takes a file with that operator
        set(arguments ${CMAKE_CURRENT_LIST_DIR}/squared_relu.onnx)
    endif()
    foreach(program IN ITEMS ${name}.static ${name}.shared find_package/${name}.static find_package/${name}.shared)
        run(${CMAKE_COMMAND} -E env --unset=ARCHSIM_DATA_DIR ${CMAKE_COMMAND} -E chdir / ${scratch}/${program} ${arguments})
        if(said STREQUAL "")
            message(FATAL_ERROR "${program} printed nothing")
        endif()
        if(first AND NOT said STREQUAL first)
            message(FATAL_ERROR "${program} printed ${said}, linked otherwise ${first}")
        endif()
        set(first "${said}")
    endforeach()
endforeach()

# As a subproject: its build is configured, gets none of our warnings, and compiles the consumer; the library beside it is
# linked from the main build, which compiles the same sources.
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/subproject -B ${scratch}/subproject -G Ninja
    -D ARCHSIM_SOURCE_DIR=${project_dir} -D CMAKE_CXX_COMPILER=${COMPILER} ${launcher})
file(READ ${scratch}/subproject/compile_commands.json commands)
if(commands MATCHES "-Werror")
    message(FATAL_ERROR "a consumer's build gets our warnings as errors")
endif()
# Every object of the library has its place in that build, and the consumer compiles.
find_program(ninja ninja REQUIRED)
run(${ninja} -C ${scratch}/subproject -t commands consumer)
if(NOT said MATCHES "libarchsim.a")
    message(FATAL_ERROR "the subproject does not build the library: ${said}")
endif()
run(${ninja} -C ${scratch}/subproject -t targets all)
string(REGEX MATCH "[^\n]*CMakeFiles/consumer.dir[^\n:]*consumer.cpp.o" object "${said}")
run(${ninja} -C ${scratch}/subproject ${object})
run(${pkg_config} --static --libs-only-l archsim)
string(REPLACE "-larchsim" "" libraries "${said}")
separate_arguments(libraries UNIX_COMMAND "${libraries}")
run(${COMPILER} ${scratch}/subproject/${object} ${BUILD_DIR}/libarchsim.a ${libraries}
    -o ${scratch}/subproject/linked_consumer)
expect_macs(${scratch}/subproject/linked_consumer)
