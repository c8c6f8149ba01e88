# Benchmarks: every bench/NAME_bench.cpp is a program of its own.

find_package(benchmark 1.7 REQUIRED)

file(GLOB archsim_bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*_bench.cpp)
foreach(source IN LISTS archsim_bench_sources)
    cmake_path(GET source STEM program)
    add_executable(${program} ${source})
    # The root for bench/*.hpp, src for private headers; the protobuf messages write large graphs.
    target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${program} PRIVATE
        archsim archsim_warnings benchmark::benchmark onnx_proto protobuf::libprotobuf)
endforeach()

# What scripts/bench --write needs beside them.
add_executable(write_weights ${PROJECT_SOURCE_DIR}/bench/write_weights.cpp)
target_link_libraries(write_weights PRIVATE archsim_warnings onnx_proto protobuf::libprotobuf)
add_executable(measure_process ${PROJECT_SOURCE_DIR}/bench/measure_process.cpp)
target_link_libraries(measure_process PRIVATE archsim_warnings)
