# Toolchain file: for 64-bit Arm with Debian's cross compiler. What is linked besides lies in the root that
# tests/package/make_root.sh makes for that machine, whose programs qemu runs (manual pages and completions are what tools say).

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(archsim_root ${CMAKE_CURRENT_LIST_DIR}/../build/packages/arm64_root)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${archsim_root}")
# A fused multiply-add rounds once where the others round twice: the last digit would be another.
# And nothing here was compiled by a GCC before 10, which passed some structures in other registers.
set(CMAKE_CXX_FLAGS_INIT "-ffp-contract=off -Wno-psabi")

set(ARCHSIM_ZLIB ${archsim_root}/usr/lib/aarch64-linux-gnu/libz.a CACHE FILEPATH "zlib")
# Libraries of headers, described in the folders of this machine.
foreach(name IN ITEMS fmt Boost boost_headers)
    file(GLOB folders /usr/lib/*/cmake/${name} /usr/lib/*/cmake/${name}-[0-9]*)
    if(folders)
        list(GET folders 0 folder)
        set(${name}_DIR ${folder} CACHE PATH "Its description")
    endif()
endforeach()
