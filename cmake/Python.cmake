# The Python package: the extension module beside the plain Python of src/python/archsim. The module uses the stable part of
# CPython's interface alone (src/python/python.hpp): one runs under Python 3.9 and every newer one.

# Debian's interpreter, whose packages the tests use, unless another is chosen.
if(NOT PYTHON_EXECUTABLE)
    set(PYTHON_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "Python that has the headers and runs the tests")
endif()
execute_process(COMMAND ${PYTHON_EXECUTABLE} -c "import sysconfig; print(sysconfig.get_paths()['include'])"
    OUTPUT_VARIABLE archsim_python_headers OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(CMAKE_CROSSCOMPILING) # what is the machine's lies beside the other headers of its root
    set(archsim_python_machine -idirafter ${archsim_root}/usr/include)
endif()
if(NOT EXISTS ${archsim_python_headers}/Python.h)
    message(FATAL_ERROR "${archsim_python_headers}/Python.h was not found: run scripts/setup test, or install python3-dev")
endif()

set(archsim_python_dir ${PROJECT_BINARY_DIR}/python/archsim)
file(MAKE_DIRECTORY ${archsim_python_dir})
# What was built for one interpreter before would be loaded first.
file(GLOB stale ${archsim_python_dir}/_archsim.cpython-*.so ${PROJECT_BINARY_DIR}/python_*/_archsim.cpython-*.so)
if(stale)
    file(REMOVE ${stale})
endif()
file(GLOB archsim_python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/python/*.cpp)
add_library(archsim_python MODULE ${archsim_python_sources})
target_compile_features(archsim_python PRIVATE cxx_std_20)
set_target_properties(archsim_python PROPERTIES
    PREFIX "" OUTPUT_NAME _archsim SUFFIX ".abi3.so"
    CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${archsim_python_dir})
target_include_directories(archsim_python PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(archsim_python SYSTEM PRIVATE ${archsim_python_headers})
target_link_libraries(archsim_python PRIVATE archsim archsim_warnings)
target_compile_options(archsim_python PRIVATE ${archsim_python_machine})
# Half of a file's compilation is what it instantiates for every file.
set_target_properties(archsim_python PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
target_compile_options(archsim_python PRIVATE $<$<CONFIG:Release>:-O1>) # it hands values over; what computes is the library
file(GLOB archsim_python_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/python/archsim/*)
foreach(file IN LISTS archsim_python_files)
    cmake_path(GET file FILENAME name)
    file(CREATE_LINK ${file} ${archsim_python_dir}/${name} SYMBOLIC)
endforeach()

# The same module linked for other places.
function(archsim_python_module target folder)
    add_library(${target} MODULE $<TARGET_OBJECTS:archsim_python>)
    set_target_properties(${target} PROPERTIES
        PREFIX "" OUTPUT_NAME _archsim SUFFIX ".abi3.so" LINKER_LANGUAGE CXX
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python_${folder})
endfunction()
# For wheels: an interpreter from anywhere loads it.
archsim_python_module(archsim_python_portable portable)
target_sources(archsim_python_portable PRIVATE ${PROJECT_SOURCE_DIR}/cli/portable/older_libc.cpp)
target_link_options(archsim_python_portable PRIVATE -static-libstdc++ -static-libgcc -s -Wl,--exclude-libs,ALL)
if(ARCHSIM_BUILD_TOOLS)
    # With the tools, as the function archsim_main: a wheel has the library once.
    set(object ${PROJECT_BINARY_DIR}/multicall/archsim_main.o)
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_OBJCOPY} --redefine-sym main=archsim_main
            $<FILTER:$<TARGET_OBJECTS:archsim_multicall_main>,INCLUDE,/multicall/archsim> ${object}
        DEPENDS $<TARGET_OBJECTS:archsim_multicall_main> VERBATIM)
    set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set_source_files_properties(${archsim_multicall_objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_sources(archsim_python_portable PRIVATE ${object} ${archsim_multicall_objects}
        $<FILTER:$<TARGET_OBJECTS:archsim_multicall_main>,EXCLUDE,/multicall/archsim>)
    target_link_libraries(archsim_python_portable PRIVATE archsim_cli archsim_fit)
endif()
target_link_libraries(archsim_python_portable PRIVATE archsim)
set_target_properties(archsim_python_portable PROPERTIES EXCLUDE_FROM_ALL ON)

if(PROJECT_IS_TOP_LEVEL)
    # Debian's interpreter looks there.
    set(ARCHSIM_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the Python package is installed")
    install(TARGETS archsim_python LIBRARY DESTINATION ${ARCHSIM_PYTHON_DIR}/archsim)
    install(FILES ${archsim_python_files} DESTINATION ${ARCHSIM_PYTHON_DIR}/archsim)
endif()
