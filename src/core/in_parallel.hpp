#pragma once
// Work that several threads share.

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace archsim {

/// Starts `work` on so many threads; on fewer where the system starts no more (a container's limit, little
/// memory), none among them.
template <class Work>
std::vector<std::jthread> started_threads(std::size_t count, Work work) {
    std::vector<std::jthread> threads;
    try {
        while (threads.size() < count)
            threads.emplace_back(work, threads.size());
    } catch (const std::system_error&) { // whoever runs does it all
    } catch (const std::bad_alloc&) {
    }
    return threads;
}

/// Calls `work` for every number below `count`, on so many threads, this one among them. What a call throws
/// first is thrown when all have ended, and no other is begun.
template <class Work>
void in_parallel(std::size_t count, std::size_t threads, const Work& work) {
    std::atomic<std::size_t> next = 0;
    std::exception_ptr problem;
    std::mutex mutex;
    const auto run = [&](std::size_t) {
        try {
            for (std::size_t i = next++; i < count; i = next++)
                work(i);
        } catch (...) {
            const std::lock_guard lock(mutex);
            problem = problem ? problem : std::current_exception();
            next = count;
        }
    };
    {
        const std::size_t most = threads < count ? threads : count;
        const auto others = started_threads(most > 1 ? most - 1 : 0, run);
        run(0);
    }
    if (problem)
        std::rethrow_exception(problem);
}

/// As many threads as the machine runs at once.
inline std::size_t all_threads() {
    const unsigned count = std::thread::hardware_concurrency();
    return count > 0 ? count : 1;
}

} // namespace archsim
