#pragma once
// Defines ARCHSIM_INSTRUMENTED where sanitizers see every access: such a program has an allocator of its own
// and takes many times longer.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ARCHSIM_INSTRUMENTED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ARCHSIM_INSTRUMENTED
#endif
#endif
