#pragma once
// The sequences of an engine that generate. Where each emits one token a step all of them advance by counting
// one beat: a step costs what comes, goes and crosses from one span of contexts into the next, not what it
// holds. Drafted tokens, of which each sequence keeps its own number, are counted one by one.

#include "archsim/serving/simulation.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace archsim::serving {

/// A sequence on an engine.
struct Sequence {
    std::size_t request = 0;
    std::size_t group = 0;        ///< of the engine, that works for it
    std::int64_t prompt_left = 0; ///< still to be processed
    std::int64_t context = 0;     ///< positions in the cache
    std::int64_t chunk = 0;       ///< of the prompt, in this step
    std::int64_t left = 0;        ///< tokens still to be emitted here
    std::int64_t emitted = 0;     ///< here, written to the request when it ends
    double bytes = 0;             ///< given out, beside those of a prompt that is kept
    double handed = 0;            ///< bytes of its own that the prefix cache took over
    std::size_t kept = 0;         ///< blocks of the prefix cache that it uses, from the first
    std::int64_t found = 0;       ///< positions that the cache held when it came
    std::int64_t given = 0;       ///< positions that it has at its end, in whole blocks
};

class Generating {
  public:
    /// `one_by_one`: advance_by() moves them on, not advance().
    explicit Generating(bool one_by_one) : one_by_one_(one_by_one) {}

    void add(const Sequence& s);
    std::size_t size() const { return members_.size(); }
    bool empty() const { return members_.empty(); }
    /// Their contexts as they are.
    const ContextCounts& contexts() const { return contexts_; }
    /// Positions of all contexts.
    std::int64_t positions() const;

    /// Every sequence emits so many tokens, of which none ends a sequence or leaves its span (steps_alike()).
    void go_on(std::int64_t steps);
    /// Every sequence emits a token; those that end are appended, first come first.
    void advance(std::vector<Sequence>& ended);
    /// The same where `tokens()` says for each in turn how many, of which it takes what it still needs.
    /// Returns the tokens emitted.
    std::int64_t advance_by(const std::function<std::int64_t()>& tokens, std::vector<Sequence>& ended);

    /// Visits each with its context and the tokens that it still needs, which `use` must not change.
    template <class Use>
    void each(const Use& use) {
        for (Member& m : members_)
            use(m.s, m.s.context + moved(m), m.s.left - moved(m));
    }
    /// Takes one away, as it is: the last that came, or the one with the shortest answer so far.
    Sequence take(bool shortest_answer);

    /// Steps after the next one that hold the same sequences in the same spans of contexts, and in which none
    /// ends. Worked: 5 tokens left, 100 positions of a span up to 127: 3.
    std::int64_t steps_alike() const;
    /// The context of each, first come first.
    std::vector<std::int64_t> contexts_in_turn() const;

  private:
    struct Member {
        Sequence s;                       ///< as it was when it came
        std::int64_t since = 0, ends = 0; ///< beats
        std::int64_t serial = 0;
    };
    struct Crossing {
        std::int64_t beat = 0; ///< at which a context is the first of another span
        std::int64_t ends = 0;
        std::size_t from = 0; ///< span
    };
    /// Steps that it has made since it came, where all advance by beats.
    std::int64_t moved(const Member& m) const { return one_by_one_ ? 0 : beat_ - m.since; }
    static bool later(const Member& a, const Member& b);
    static bool after(const Crossing& a, const Crossing& b);
    void cross(std::int64_t context, std::int64_t beat, std::int64_t ends);

    bool one_by_one_;
    std::vector<Member> members_;     ///< a heap, the next to end first; one by one: in the order they came
    std::vector<Crossing> crossings_; ///< a heap, the next one first
    void count(std::int64_t context);

    ContextCounts contexts_;
    std::size_t spans_ = 0;
    std::int64_t beat_ = 0, came_ = 0;
};

} // namespace archsim::serving
