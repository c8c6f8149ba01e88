// Short measurements of the machine itself: clock and memory bandwidth. Each is the best of many short
// samples, so that other programs disturb it little.

#include "machine/this_machine.hpp"

#include "core/new_file.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <thread>
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

/// Where what this boot measured waits for the next program; empty: nowhere.
std::filesystem::path kept_probe() {
    using Place = std::pair<const char*, const char*>;
    for (const auto& [variable, below] :
         {Place{"XDG_CACHE_HOME", "archsim"}, Place{"HOME", ".cache/archsim"}})
        if (const char* const folder = std::getenv(variable); folder != nullptr && *folder == '/')
            return std::filesystem::path(folder) / below / "probe";
    return {};
}

} // namespace

ProbeResult probe_machine(double read_seconds) {
    ProbeResult out;
#if defined(__x86_64__)
    const double clock_seconds = read_seconds / 4;
    out.clock_hz = best_rate(clock_seconds, clock_sample);
    if (__builtin_cpu_supports("avx512f") != 0) {
        // The first samples still run at the higher clock: the processor takes a while to lower it.
        best_rate(clock_seconds / 2, wide_clock_sample);
        out.vector_clock_hz = best_rate(clock_seconds, wide_clock_sample);
    }
#endif
    constexpr std::size_t kBuffer = 256U << 20; // beyond the share of the last level that one reader holds
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    constexpr unsigned kMostThreads = 16; // 4 GiB of buffers are enough
    try {
        out.core_bandwidth = bandwidth(1, kBuffer, read_seconds);
        if (threads <= kMostThreads)
            out.memory_bandwidth = bandwidth(threads, kBuffer, read_seconds);
    } catch (const std::bad_alloc&) {
        out.core_bandwidth.reset();      // too little memory to look beyond the caches
    } catch (const std::system_error&) { // all cores can be asked only where each gets a thread
        out.memory_bandwidth.reset();
    }
    return out;
}

static std::atomic<bool> may_measure = false;

void let_machine_be_measured() {
    may_measure = true;
}

ProbeResult probe_of_boot() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    if (boot.empty())
        return {};
    // A container or a mask of processors sees other cores in the same boot.
    boot += fmt::format("/{}", std::thread::hardware_concurrency());
    ProbeResult out;
    const std::array numbers = {&out.clock_hz, &out.vector_clock_hz, &out.core_bandwidth,
                                &out.memory_bandwidth};
    const std::filesystem::path file = kept_probe();
    std::ifstream kept(file);
    if (std::string of; kept >> of && of == boot) {
        for (std::optional<double>* const number : numbers)
            if (double value = 0; kept >> value && value > 0)
                *number = value;
        return out;
    }
    if (!may_measure)
        return {};
    // The rest that other programs leave is no property of the machine, and would be taken for one until it
    // is started again.
    double busy = 0;
    if (std::ifstream("/proc/loadavg") >> busy; busy > std::thread::hardware_concurrency() / 2.0)
        return {};
    constexpr double kBriefly = 0.1;
    out = probe_machine(kBriefly);
    if (file.empty())
        return out;
    std::string keeping = boot;
    for (const std::optional<double>* const number : numbers)
        keeping += fmt::format(" {}", number->value_or(0));
    try {
        expect_new_files();
        std::filesystem::create_directories(file.parent_path());
        NewFile kept_file(file, "what was measured of this machine");
        kept_file.write(keeping);
        kept_file.put_in_place();
    } catch (const InputError&) { // where it cannot be kept the next program measures again
    } catch (const std::filesystem::filesystem_error&) { // likewise
    }
    return out;
}

} // namespace archsim
