#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace archsim::serving {

enum class EventKind : std::uint8_t { step_end, transferred, arrival, prepared, told };

struct Event {
    Event(double at, std::uint64_t made, EventKind what, std::size_t whose)
        : time(at), order(made), kind(what), subject(whose) {}

    double time = 0;
    std::uint64_t order = 0; ///< of making: decides between events of one time
    EventKind kind = EventKind::arrival;
    std::size_t subject = 0; ///< engine, or request

    bool before(const Event& other) const {
        return time != other.time ? time < other.time : order < other.order;
    }
};

/// The soonest first.
class EventQueue {
  public:
    bool empty() const { return events_.empty(); }
    /// The time of the soonest; infinite without any.
    double next_time() const {
        return empty() ? std::numeric_limits<double>::infinity() : events_.front().time;
    }
    /// The soonest. There must be one.
    Event take() {
        std::pop_heap(events_.begin(), events_.end(), after);
        const Event event = events_.back();
        events_.pop_back();
        return event;
    }
    void add(const Event& event) {
        events_.push_back(event);
        std::push_heap(events_.begin(), events_.end(), after);
    }

  private:
    static bool after(const Event& a, const Event& b) { return b.before(a); }

    std::vector<Event> events_; ///< a heap
};

} // namespace archsim::serving
