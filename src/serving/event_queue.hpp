#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace archsim::serving {

enum class EventKind : std::uint8_t { step_end, transferred, arrival, prepared };

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

/// A binary heap whose first place stays open when its event is taken: mostly the next step of the same
/// engine comes into it, which sinks once where a heap of the library would let one event sink and another
/// rise.
class EventQueue {
  public:
    bool empty() const { return events_.size() == (open_ ? 1U : 0U); }
    /// Of the soonest; infinite without any.
    double next_time() const {
        if (empty())
            return std::numeric_limits<double>::infinity();
        if (!open_)
            return events_.front().time;
        return events_.size() > 2 ? std::min(events_[1].time, events_[2].time) : events_[1].time;
    }
    /// The soonest. There must be one.
    Event take() {
        close();
        open_ = true;
        return events_.front();
    }
    /// Takes away the soonest that are such. Returns how many.
    template <class Such>
    std::int64_t drop(const Such& such) {
        std::int64_t dropped = 0;
        for (close(); !events_.empty() && such(events_.front()); ++dropped) {
            open_ = true;
            close();
        }
        return dropped;
    }
    void add(const Event& event) {
        if (open_) {
            open_ = false;
            sink(event);
            return;
        }
        events_.push_back(event);
        std::push_heap(events_.begin(), events_.end(), after);
    }

  private:
    static bool after(const Event& a, const Event& b) { return b.before(a); }
    /// Fills the first place with one of the last.
    void close() {
        if (!open_)
            return;
        open_ = false;
        const Event last = events_.back();
        events_.pop_back();
        if (!events_.empty())
            sink(last);
    }
    /// Puts an event below those before it, from the first place on.
    void sink(const Event& event) {
        const std::size_t count = events_.size();
        std::size_t at = 0;
        for (std::size_t child = 1; child < count; child = 2 * at + 1) {
            if (child + 1 < count && events_[child + 1].before(events_[child]))
                ++child;
            if (event.before(events_[child]))
                break;
            events_[at] = events_[child];
            at = child;
        }
        events_[at] = event;
    }

    std::vector<Event> events_;
    bool open_ = false; ///< the first of `events_` was taken
};

} // namespace archsim::serving
