#include "support/trace_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace archsim::test {

namespace {

using Json = nlohmann::json;

/// Metadata events of the format, with the type of what `args` holds.
struct MetadataRule {
    std::string_view name, argument;
    bool text;
};
constexpr std::array kMetadata = {
    MetadataRule{"process_name", "name", true}, MetadataRule{"process_labels", "labels", true},
    MetadataRule{"process_sort_index", "sort_index", false}, MetadataRule{"thread_name", "name", true},
    MetadataRule{"thread_sort_index", "sort_index", false}};

struct Slice {
    std::int64_t start = 0, end = 0; ///< nanoseconds
    std::string name;
};

bool has_number(const Json& event, const char* key) {
    return event.contains(key) && event[key].is_number() && std::isfinite(event[key].get<double>());
}

/// Nanoseconds of an event's microseconds.
std::int64_t nanoseconds(const Json& event, const char* key) {
    return std::llround(event[key].get<double>() * 1000);
}

class TraceChecker {
  public:
    std::vector<std::string> run(const Json& trace) {
        if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) {
            faults_.emplace_back("no object with a list of traceEvents");
            return faults_;
        }
        if (const std::string unit = trace.value("displayTimeUnit", "ms"); unit != "ms" && unit != "ns")
            faults_.push_back("displayTimeUnit is neither ms nor ns: " + unit);
        if (trace.contains("otherData") && !trace["otherData"].is_object())
            faults_.emplace_back("otherData is no object");
        for (const Json& event : trace["traceEvents"])
            check(event);
        for (auto& [thread, slices] : slices_)
            check_nesting(slices);
        return faults_;
    }

  private:
    void fault(const Json& event, const std::string& what) { faults_.push_back(what + ": " + event.dump()); }

    void check(const Json& event) {
        if (!event.is_object())
            return fault(event, "an event is no object");
        const Json phase = event.value("ph", Json());
        if (!event.contains("name") || !event["name"].is_string())
            return fault(event, "no name");
        for (const char* id : {"pid", "tid"})
            if (!event.contains(id) || !event[id].is_number_integer())
                return fault(event, std::string("no whole number ") + id);
        if (event.contains("args") && !event["args"].is_object())
            return fault(event, "args is no object");
        if (phase == "M")
            return check_metadata(event);
        if (phase != "X")
            return fault(event, "an event of a kind that the library does not write");
        if (!has_number(event, "ts") || !has_number(event, "dur"))
            return fault(event, "a complete event without ts and dur");
        if (event["ts"].get<double>() < 0 || event["dur"].get<double>() < 0)
            return fault(event, "before the beginning, or of negative length");
        const std::int64_t start = nanoseconds(event, "ts");
        slices_[{event["pid"].get<std::int64_t>(), event["tid"].get<std::int64_t>()}].push_back(
            {start, start + nanoseconds(event, "dur"), event["name"].get<std::string>()});
    }

    void check_metadata(const Json& event) {
        const auto rule = std::find_if(kMetadata.begin(), kMetadata.end(),
                                       [&](const MetadataRule& r) { return event["name"] == r.name; });
        if (rule == kMetadata.end())
            return fault(event, "metadata that the format does not have");
        const Json args = event.value("args", Json::object());
        const auto found = args.find(std::string(rule->argument));
        if (found == args.end() || (rule->text ? !found->is_string() : !found->is_number_integer()))
            fault(event, "metadata without its argument");
    }

    /// Complete events may come in any order; a viewer sorts them, of equal starts the longest first.
    void check_nesting(std::vector<Slice>& slices) {
        std::stable_sort(slices.begin(), slices.end(), [](const Slice& x, const Slice& y) {
            return x.start != y.start ? x.start < y.start : x.end > y.end;
        });
        std::vector<const Slice*> open;
        for (const Slice& slice : slices) {
            while (!open.empty() && open.back()->end <= slice.start)
                open.pop_back();
            if (!open.empty() && slice.end > open.back()->end)
                faults_.push_back("\"" + slice.name + "\" ends " +
                                  std::to_string(slice.end - open.back()->end) + " ns behind \"" +
                                  open.back()->name + "\", in which it begins");
            else
                open.push_back(&slice);
        }
    }

    std::vector<std::string> faults_;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Slice>> slices_; ///< by process and thread
};

} // namespace

std::vector<std::string> trace_faults(const Json& trace) {
    return TraceChecker().run(trace);
}

} // namespace archsim::test
