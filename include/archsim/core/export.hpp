#pragma once
// Symbol visibility: everything is hidden unless marked ARCHSIM_API.
#if defined(__GNUC__) || defined(__clang__)
#define ARCHSIM_API __attribute__((visibility("default")))
#else
#define ARCHSIM_API
#endif
