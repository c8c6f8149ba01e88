#include "machine/processor_entry.hpp"

#include <algorithm>

namespace archsim {

namespace {

using Known = EntryWriter::Known;

// A core of the last ten years has at least 32 KiB of L1 and 512 KiB of L2.
constexpr double kUnknownL1 = 32 * kKibi, kUnknownL2 = 512 * kKibi;
constexpr const char* kCachesFrom = "/sys/devices/system/cpu or the identification leaves";

class CoreCaches : ProcessorFacts {
  public:
    CoreCaches(const ProcessorFacts& facts, EntryWriter& out) : ProcessorFacts(facts), out_(out) {}

    void write() {
        Json& memory = out_.document["memory"] = Json::array();
        const auto add = [&](const char* name, const char* scope, const Known& size, const char* unit,
                             double scale) {
            Json at = Json::object(
                {{"name", name}, {"scope", scope}, {"capacity", out_.quantity(size, unit, scale)}});
            if (const MemoryLevel* like = level(name); like != nullptr && like->bytes_per_clock.known())
                at["bytes_per_clock"] = out_.quantity(borrowed(like->bytes_per_clock.value), "B/clk");
            memory.push_back(at);
            out_.fact(fmt::format("{}{}", name, std::string_view(scope) == "core" ? " of a core" : ""),
                      fmt::format("{:g} {}", size.value / scale, unit), size);
        };
        const auto like = [&](const char* name) {
            return level(name) != nullptr ? &level(name)->capacity : nullptr;
        };
        add("L1", "core",
            first_of(seen().l1_bytes, kCachesFrom, like("L1"), assumed(kUnknownL1, "usual size")), "KiB",
            kKibi);
        add("L2", "core",
            first_of(seen().l2_bytes, kCachesFrom, like("L2"), assumed(kUnknownL2, "usual size")), "KiB",
            kKibi);
        add_shared_cache(add);
    }

  private:
    const MemoryLevel* level(const char* name) const {
        return device() != nullptr ? device()->level(name) : nullptr;
    }

    /// A hypervisor shows the third level of the whole socket or die, which its other machines fill as well:
    /// a virtual machine gets the share of its cores. Without a third level in sight there may be none.
    template <class Add>
    void add_shared_cache(const Add& add) {
        const Fact* like =
            level("L3") != nullptr && level("L3")->capacity.known() ? &level("L3")->capacity : nullptr;
        if (!seen().l3_bytes && (seen().l1_bytes || like == nullptr))
            return;
        const Known size = first_of(seen().l3_bytes, kCachesFrom, like, {});
        const double cores = device() != nullptr ? number("cores").value_or(0) : 0;
        if (!seen().hypervisor || like == nullptr || seen().cores >= cores) {
            add("L3", "socket", size, "MiB", kMebi);
            return;
        }
        out_.fact("L3 seen", fmt::format("{:g} MiB", size.value / kMebi), size);
        add("L3", "socket",
            assumed(std::min(size.value, like->value * seen().cores / cores),
                    fmt::format("share of {:g} of the {:g} cores of {}", seen().cores, cores, device()->id)),
            "MiB", kMebi);
    }

    EntryWriter& out_;
};

} // namespace

void write_caches(const ProcessorFacts& facts, EntryWriter& out) {
    CoreCaches(facts, out).write();
}

} // namespace archsim
