#include "machine/processor_entry.hpp"

#include <algorithm>

namespace archsim {

namespace {

using Known = EntryWriter::Known;

// A core of the last ten years has at least 32 KiB of L1 and 512 KiB of L2.
constexpr double kUnknownL1 = 32 * kKibi, kUnknownL2 = 512 * kKibi;
constexpr const char* kCachesFrom = "/sys/devices/system/cpu or the identification leaves";

class CoreCaches {
  public:
    CoreCaches(const ProcessorFacts& facts, EntryWriter& out) : facts_(facts), out_(out) {}

    void write() {
        Json& memory = out_.document["memory"] = Json::array();
        const auto add = [&](const char* name, const char* scope, const Known& size, const char* unit,
                             double scale) {
            Json at = Json::object(
                {{"name", name}, {"scope", scope}, {"capacity", out_.quantity(size, unit, scale)}});
            if (const MemoryLevel* like = level(name); like != nullptr && like->bytes_per_clock.known())
                at["bytes_per_clock"] = out_.quantity(facts_.borrowed(like->bytes_per_clock.value), "B/clk");
            memory.push_back(at);
            out_.fact(fmt::format("{}{}", name, std::string_view(scope) == "core" ? " of a core" : ""),
                      fmt::format("{:g} {}", size.value / scale, unit), size);
        };
        const auto like = [&](const char* name) {
            return level(name) != nullptr ? &level(name)->capacity : nullptr;
        };
        add("L1", "core",
            facts_.first_of(facts_.seen().l1_bytes, kCachesFrom, like("L1"),
                            facts_.assumed(kUnknownL1, "usual size")),
            "KiB", kKibi);
        add("L2", "core",
            facts_.first_of(facts_.seen().l2_bytes, kCachesFrom, like("L2"),
                            facts_.assumed(kUnknownL2, "usual size")),
            "KiB", kKibi);
        add_shared_cache(add);
    }

  private:
    const MemoryLevel* level(const char* name) const {
        return facts_.device() != nullptr ? facts_.device()->level(name) : nullptr;
    }

    /// A hypervisor shows the third level of the whole socket or die, which its other machines fill as well:
    /// a virtual machine gets the share of its cores. Without a third level in sight there may be none.
    template <class Add>
    void add_shared_cache(const Add& add) {
        const Fact* like =
            level("L3") != nullptr && level("L3")->capacity.known() ? &level("L3")->capacity : nullptr;
        if (!facts_.seen().l3_bytes && (facts_.seen().l1_bytes || like == nullptr))
            return;
        const Known size = facts_.first_of(facts_.seen().l3_bytes, kCachesFrom, like, {});
        const double cores = facts_.device() != nullptr ? facts_.number("cores").value_or(0) : 0;
        if (!facts_.seen().hypervisor || like == nullptr || facts_.seen().cores >= cores) {
            add("L3", "socket", size, "MiB", kMebi);
            return;
        }
        out_.fact("L3 seen", fmt::format("{:g} MiB", size.value / kMebi), size);
        add("L3", "socket",
            facts_.assumed(std::min(size.value, like->value * facts_.seen().cores / cores),
                           fmt::format("share of {:g} of the {:g} cores of {}", facts_.seen().cores, cores,
                                       facts_.device()->id)),
            "MiB", kMebi);
    }

    const ProcessorFacts& facts_;
    EntryWriter& out_;
};

} // namespace

void write_caches(const ProcessorFacts& facts, EntryWriter& out) {
    CoreCaches(facts, out).write();
}

} // namespace archsim
