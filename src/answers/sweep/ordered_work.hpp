#pragma once
// Work in parallel, results in order, bounded memory.

#include "core/in_parallel.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace archsim {

/// Calls `make(worker, first, last)` for consecutive ranges of [begin, end) on `threads` threads and
/// `take(result)` for their results in order on this thread. At most four unfinished ranges per thread exist
/// at a time. Stops when `take` returns false; rethrows the first exception of `make`.
template <typename Result, typename Make, typename Take>
void in_order(std::uint64_t begin, std::uint64_t end, std::uint64_t range, unsigned threads, Make make,
              Take take) {
    if (begin >= end)
        return;
    const std::uint64_t ranges = (end - begin + range - 1) / range;
    threads = static_cast<unsigned>(std::clamp<std::uint64_t>(threads, 1, ranges));
    const auto alone = [&] {
        for (std::uint64_t first = begin; first < end; first += range)
            if (!take(make(0U, first, std::min(end, first + range))))
                return;
    };
    if (threads == 1) // a second one would wait for this one alone
        return alone();
    const std::uint64_t window = 4ULL * threads;
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::uint64_t, Result> ready;
    std::uint64_t next = 0, taken = 0;
    bool stop = false;
    std::exception_ptr problem;

    const auto work = [&](std::size_t index) {
        const auto worker = static_cast<unsigned>(index);
        std::unique_lock lock(mutex);
        while (true) {
            changed.wait(lock, [&] { return stop || next >= ranges || next < taken + window; });
            if (stop || next >= ranges)
                return;
            const std::uint64_t mine = next++;
            lock.unlock();
            Result result;
            std::exception_ptr failed;
            try {
                const std::uint64_t first = begin + mine * range;
                result = make(worker, first, std::min(end, first + range));
            } catch (...) {
                failed = std::current_exception();
            }
            lock.lock();
            if (failed) {
                problem = problem ? problem : failed;
                stop = true;
            } else {
                ready.emplace(mine, std::move(result));
            }
            changed.notify_all();
        }
    };
    std::vector<std::jthread> workers = started_threads(threads, work);
    if (workers.empty())
        return alone();

    std::unique_lock lock(mutex);
    while (taken < ranges) {
        changed.wait(lock, [&] { return stop || ready.contains(taken); });
        if (stop)
            break;
        auto node = ready.extract(taken);
        lock.unlock();
        bool go_on = false;
        std::exception_ptr failed;
        try {
            go_on = take(std::move(node.mapped()));
        } catch (...) {
            failed = std::current_exception();
        }
        lock.lock();
        ++taken;
        if (!go_on) {
            problem = problem ? problem : failed;
            stop = true;
        }
        changed.notify_all();
    }
    stop = true;
    changed.notify_all();
    lock.unlock();
    workers.clear(); // joins
    if (problem)
        std::rethrow_exception(problem);
}

} // namespace archsim
