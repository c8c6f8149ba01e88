#pragma once
// Symbol visibility: everything is hidden unless marked ARCHSIM_API. ARCHSIM_PRIVATE: what the library alone
// calls of a class that is marked so.
#if defined(__GNUC__) || defined(__clang__)
#define ARCHSIM_API __attribute__((visibility("default")))
#define ARCHSIM_PRIVATE __attribute__((visibility("hidden")))
#else
#define ARCHSIM_API
#define ARCHSIM_PRIVATE
#endif

// A program that links the static library of an installation finds the data beside these headers: the library
// asks for their place, and is there none of its own (src/core/data_dir.cpp). The objects of the library
// itself have none.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(ARCHSIM_BUILDING) && !defined(ARCHSIM_HEADERS_TOLD)
#define ARCHSIM_HEADERS_TOLD
extern "C" __attribute__((weak)) const char* archsim_headers();
const char* archsim_headers() {
    return __FILE__;
}
#endif
