#pragma once

#include <atomic>
#include <mutex>

namespace archsim {

/// Runs a reader once, whichever thread comes first; a reader that throws is run again by the next caller.
/// std::call_once promises the same, but glibc's pthread_once unwinds by the shared libgcc: in a tool that
/// links libgcc statically an exception that passes through it ends the process.
class ReadOnce {
  public:
    template <class Reader>
    void run(const Reader& reader) {
        if (done_.load(std::memory_order_acquire))
            return;
        const std::lock_guard lock(mutex_);
        if (done_.load(std::memory_order_relaxed))
            return;
        reader();
        done_.store(true, std::memory_order_release);
    }

  private:
    std::mutex mutex_;
    std::atomic<bool> done_ = false;
};

} // namespace archsim
