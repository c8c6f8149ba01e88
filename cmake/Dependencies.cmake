# Third-party libraries. All are private: the public headers need only the standard library.

if(EMSCRIPTEN)
    include(cmake/WebDependencies.cmake)
    return()
endif()
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
# Its headers, without the shared library that its target stands for: src/core/fmt.cpp compiles what they leave to one.
add_library(archsim_fmt INTERFACE)
target_include_directories(archsim_fmt SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(archsim_fmt INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
find_path(ARCHSIM_PROTOZERO protozero/pbf_reader.hpp REQUIRED) # header-only, and without a file for CMake
find_path(ARCHSIM_RAPIDJSON rapidjson/reader.h REQUIRED) # header-only
mark_as_advanced(ARCHSIM_PROTOZERO ARCHSIM_RAPIDJSON)
# Their headers alone: src/core/shared_object.hpp loads the libraries when a study in YAML or a file of results is opened.
find_path(ARCHSIM_YAML yaml.h REQUIRED)
find_path(ARCHSIM_SQLITE sqlite3.h REQUIRED)
mark_as_advanced(ARCHSIM_YAML ARCHSIM_SQLITE)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Boost 1.74 REQUIRED) # Boost.Graph is used header-only
# scripts/setup unpacks its package here rather than installing all that it depends on.
find_package(valijson REQUIRED HINTS ${PROJECT_SOURCE_DIR}/build/packages/usr)

if(ARCHSIM_BUILD_TOOLS OR ARCHSIM_BUILD_TESTS)
    find_package(CLI11 2.1 REQUIRED)
endif()
if(ARCHSIM_BUILD_TESTS)
    find_package(Catch2 2.13 REQUIRED)
endif()
if(ARCHSIM_BUILD_TESTS OR ARCHSIM_BUILD_BENCH)
    # They write ONNX files, and ask libonnx about operators. Protobuf before ONNX, whose exported targets name
    # protobuf::libprotobuf without looking for it.
    find_package(Protobuf REQUIRED)
    find_package(ONNX REQUIRED)
endif()
