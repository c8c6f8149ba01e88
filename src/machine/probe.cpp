// Short measurements of the machine itself: clock and memory bandwidth. Each is the best of many short
// samples, so that other programs disturb it little.

#include "machine/this_machine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace archsim {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Repeats `sample`, which returns a rate, for `seconds` and keeps the highest.
double best_rate(double seconds, const std::function<double()>& sample) {
    double best = 0;
    const auto start = Clock::now();
    do
        best = std::max(best, sample());
    while (seconds_since(start) < seconds);
    return best;
}

#if defined(__x86_64__)

// A multiplication of 64-bit integers takes three clocks on every Intel core since Nehalem and every AMD core
// since Zen (the vendors' optimisation manuals, tables of latencies); a chain of additions could be shortened
// by renaming.
constexpr double kMultiplyCycles = 3;
constexpr int kLoops = 4000, kUnrolled = 8;

double clock_sample() {
    std::uint64_t x = 3;
    const auto start = Clock::now();
    for (int i = 0; i < kLoops; ++i)
        asm volatile("imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
                     "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
                     : "+r"(x));
    return kLoops * kUnrolled * kMultiplyCycles / seconds_since(start);
}

/// The same chain with wide multiply-adds beside it: their licence lowers the clock of some processors.
[[gnu::target("avx512f")]] double wide_clock_sample() {
    std::uint64_t x = 3;
    const auto start = Clock::now();
    for (int i = 0; i < kLoops; ++i)
        asm volatile(
            "imul %0, %0\n vfmadd213ps %%zmm14, %%zmm15, %%zmm0\n vfmadd213ps %%zmm14, %%zmm15, %%zmm1\n"
            "imul %0, %0\n vfmadd213ps %%zmm14, %%zmm15, %%zmm2\n vfmadd213ps %%zmm14, %%zmm15, %%zmm3\n"
            "imul %0, %0\n vfmadd213ps %%zmm14, %%zmm15, %%zmm4\n vfmadd213ps %%zmm14, %%zmm15, %%zmm5\n"
            "imul %0, %0\n vfmadd213ps %%zmm14, %%zmm15, %%zmm6\n vfmadd213ps %%zmm14, %%zmm15, %%zmm7\n"
            "imul %0, %0\n vfmadd213ps %%zmm14, %%zmm15, %%zmm0\n vfmadd213ps %%zmm14, %%zmm15, %%zmm1\n"
            "imul %0, %0\n vfmadd213ps %%zmm14, %%zmm15, %%zmm2\n vfmadd213ps %%zmm14, %%zmm15, %%zmm3\n"
            "imul %0, %0\n vfmadd213ps %%zmm14, %%zmm15, %%zmm4\n vfmadd213ps %%zmm14, %%zmm15, %%zmm5\n"
            "imul %0, %0\n vfmadd213ps %%zmm14, %%zmm15, %%zmm6\n vfmadd213ps %%zmm14, %%zmm15, %%zmm7\n"
            : "+r"(x)
            :
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm14", "xmm15");
    return kLoops * kUnrolled * kMultiplyCycles / seconds_since(start);
}

#endif

/// Bytes/s of reading the buffer once.
double read_sample(const std::vector<std::uint64_t>& buffer) {
    const auto start = Clock::now();
    std::uint64_t sum = 0;
    for (const std::uint64_t word : buffer)
        sum += word;
    const double seconds = seconds_since(start);
    volatile std::uint64_t keep = sum;
    (void)keep;
    return static_cast<double>(buffer.size() * sizeof(std::uint64_t)) / seconds;
}

/// Sum over `threads` of the best rate of each, all reading at once.
double bandwidth(unsigned threads, std::size_t bytes_each, double seconds) {
    std::vector<double> rates(threads);
    std::vector<std::jthread> readers;
    for (unsigned i = 0; i < threads; ++i)
        readers.emplace_back([&, i] {
            const std::vector<std::uint64_t> buffer(bytes_each / sizeof(std::uint64_t), i + 1);
            rates[i] = best_rate(seconds, [&] { return read_sample(buffer); });
        });
    readers.clear(); // joins
    double sum = 0;
    for (const double rate : rates)
        sum += rate;
    return sum;
}

} // namespace

ProbeResult probe_machine() {
    ProbeResult out;
    constexpr double kReadSeconds = 0.4;
#if defined(__x86_64__)
    constexpr double kClockSeconds = 0.1;
    out.clock_hz = best_rate(kClockSeconds, clock_sample);
    if (__builtin_cpu_supports("avx512f") != 0) {
        // The first samples still run at the higher clock: the processor takes a while to lower it.
        best_rate(kClockSeconds / 2, wide_clock_sample);
        out.vector_clock_hz = best_rate(kClockSeconds, wide_clock_sample);
    }
#endif
    constexpr std::size_t kBuffer = 256U << 20; // beyond the share of the last level that one reader holds
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    constexpr unsigned kMostThreads = 16; // 4 GiB of buffers are enough
    try {
        out.core_bandwidth = bandwidth(1, kBuffer, kReadSeconds);
        if (threads <= kMostThreads)
            out.memory_bandwidth = bandwidth(threads, kBuffer, kReadSeconds);
    } catch (const std::bad_alloc&) {
        out.core_bandwidth.reset();      // too little memory to look beyond the caches
    } catch (const std::system_error&) { // all cores can be asked only where each gets a thread
        out.memory_bandwidth.reset();
    }
    return out;
}

} // namespace archsim
