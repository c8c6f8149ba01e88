# Language, warnings, sanitizers and the compiler cache. Nothing here reaches consumers of the library.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Six to seven hundredths of GCC's time (-ftime-report) are collecting garbage that 140 MB more make needless.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1000000>)
endif()

# As many compilers as there are cores: a compilation takes half a gigabyte, and two that share a core throw each other's
# work out of its cache. Ninja starts two more than there are cores (a first build on two cores: 123 s instead of 98).
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_JOB_POOL_COMPILE)
    include(ProcessorCount)
    ProcessorCount(archsim_cores)
    if(archsim_cores GREATER 0)
        set_property(GLOBAL APPEND PROPERTY JOB_POOLS archsim_compile=${archsim_cores})
        set(CMAKE_JOB_POOL_COMPILE archsim_compile)
        set(CMAKE_JOB_POOL_PRECOMPILE_HEADER archsim_compile)
    endif()
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(ARCHSIM_CCACHE ccache)
    mark_as_advanced(ARCHSIM_CCACHE)
    if(ARCHSIM_CCACHE)
        # Without the first it passes over every file that uses a precompiled header; with the second it learns what a file
        # includes from the compiler instead of preprocessing it once more: a tenth of a second a file.
        set(CMAKE_CXX_COMPILER_LAUNCHER
            /usr/bin/env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${ARCHSIM_CCACHE})
    endif()
endif()

# What the compiler cache needs to follow precompiled headers.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
else()
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# A third of the time of a small change is linking, and the programs of the sanitizers have 90 MB: with GCC the linker that
# binutils bring beside the default one, with clang its own where there is one (scripts/setup fuzz).
if(PROJECT_IS_TOP_LEVEL AND NOT EMSCRIPTEN)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set(linker gold)
    else()
        set(linker lld)
    endif()
    find_program(ARCHSIM_LINKER_${linker} ld.${linker})
    mark_as_advanced(ARCHSIM_LINKER_${linker})
    if(ARCHSIM_LINKER_${linker})
        add_link_options(-fuse-ld=${linker})
    endif()
endif()

# Warnings are errors for this project alone: a consumer that builds it as a subproject gets none.
add_library(archsim_warnings INTERFACE)
if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(archsim_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
    # Designated initialisers leave the remaining members at their defaults on purpose.
    target_compile_options(archsim_warnings INTERFACE -Wno-missing-field-initializers)
    if(EMSCRIPTEN) # what is in memory is counted in the 32 bits that addresses have there
        target_compile_options(archsim_warnings INTERFACE -Wno-shorten-64-to-32)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # GCC 12 reports overlapping and overlong copies inside std::string concatenation that do not exist
        # (PR105329, PR105651).
        target_compile_options(archsim_warnings INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
        if(ARCHSIM_SANITIZE)
            # Instrumented <regex> looks uninitialised to it (PR105562).
            target_compile_options(archsim_warnings INTERFACE -Wno-maybe-uninitialized)
        endif()
    endif()
endif()

# Options that every translation unit and link of a build shares. Position-independent throughout, so that the static
# library, the shared one, tools and tests share objects and precompiled headers.
if(NOT EMSCRIPTEN) # one module, linked once
    add_compile_options(-fPIC)
endif()
if(ARCHSIM_SANITIZE)
    add_compile_options(-fsanitize=${ARCHSIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${ARCHSIM_SANITIZE})
endif()
if(ARCHSIM_COVERAGE)
    add_compile_options(--coverage -fprofile-update=atomic) # counters of threads would lose each other's steps
    add_link_options(--coverage)
endif()
if(ARCHSIM_BUILD_FUZZERS)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "ARCHSIM_BUILD_FUZZERS needs clang: configure with --preset clang")
    endif()
    if(ARCHSIM_FUZZ_GUIDED)
        add_compile_options(-fsanitize=fuzzer-no-link)
    endif()
endif()
