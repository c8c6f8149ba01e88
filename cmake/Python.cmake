# The Python package: the extension module beside the plain Python of src/python/archsim.

# Debian's interpreter, whose packages the tests use, unless another is chosen.
if(NOT PYTHON_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(PYTHON_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "Python to build the package for")
endif()
find_package(pybind11 2.10 REQUIRED)

set(archsim_python_dir ${PROJECT_BINARY_DIR}/python/archsim)
file(MAKE_DIRECTORY ${archsim_python_dir})
file(GLOB archsim_python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/python/*.cpp)
pybind11_add_module(archsim_python NO_EXTRAS ${archsim_python_sources})
set_target_properties(archsim_python PROPERTIES
    OUTPUT_NAME _archsim
    CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${archsim_python_dir})
target_include_directories(archsim_python PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(archsim_python PRIVATE archsim archsim_warnings)
file(GLOB archsim_python_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/python/archsim/*)
foreach(file IN LISTS archsim_python_files)
    cmake_path(GET file FILENAME name)
    file(CREATE_LINK ${file} ${archsim_python_dir}/${name} SYMBOLIC)
endforeach()

if(PROJECT_IS_TOP_LEVEL)
    # Debian's interpreter looks there.
    set(ARCHSIM_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the Python package is installed")
    install(TARGETS archsim_python LIBRARY DESTINATION ${ARCHSIM_PYTHON_DIR}/archsim)
    install(FILES ${archsim_python_files} DESTINATION ${ARCHSIM_PYTHON_DIR}/archsim)
endif()
