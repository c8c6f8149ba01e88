#include "answers/hardware/hardware_list.hpp"

#include "report/blocks/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

namespace {

Table facts_table(const MachineEntry& entry) {
    using F = MachineFact;
    return table_of<F>(
        {},
        {{{"Number", "", "number"}, &F::what},
         {{"Value", "", "value"}, &F::value},
         {{"Origin", "", "origin"},
          [&](const F& fact) {
              return Cell{fact.origin == Origin::database ? "from " + entry.matched
                                                          : std::string(name_of(fact.origin)),
                          {},
                          fact.origin == Origin::assumed ? Tone::bad : Tone::plain};
          }},
         {{"From", "", "from", Align::left, 1}, [](const F& fact) { return text_cell(fact.from); }}},
        entry.facts);
}

void describe_entry(const MachineEntry& entry, Report& report) {
    report.blocks.push_back(Heading{2, fmt::format("{}: {}", entry.id, entry.title)});
    report.blocks.push_back(Paragraph{entry.matched.empty()
                                          ? fmt::format("No device of the database: {}.", entry.match)
                                          : fmt::format("Like {}: {}.", entry.matched, entry.match)});
    if (!entry.facts.empty())
        report.blocks.push_back(facts_table(entry));
    if (!entry.remarks.empty())
        report.blocks.push_back(Bullets{entry.remarks});
}

/// "this-machine: AMD EPYC 9654, like EPYC-9654 of the database; 3 of 14 numbers are assumed."
std::vector<std::string> machine_lines(const ThisMachine& machine) {
    std::vector<std::string> lines;
    for (const MachineEntry& entry : machine.entries) {
        const auto assumed = std::count_if(entry.facts.begin(), entry.facts.end(),
                                           [](const MachineFact& f) { return f.origin == Origin::assumed; });
        lines.push_back(fmt::format("{}: {}, {}; {} of {} numbers are assumed.", entry.id, entry.title,
                                    entry.matched.empty() ? std::string("like no device of the database")
                                                          : "like " + entry.matched,
                                    assumed, entry.facts.size()));
    }
    return lines;
}

} // namespace

Report describe(const ThisMachine& machine) {
    Report report;
    report.title = "This machine";
    report.blocks.push_back(Heading{1, report.title});
    report.blocks.push_back(Takeaway{machine_lines(machine)});
    for (const MachineEntry& entry : machine.entries)
        describe_entry(entry, report);
    report.blocks.push_back(Paragraph{"Tools take it by name; the entry can be kept in a file and edited:"});
    report.blocks.push_back(Command{"compare_models resnet50 --hardware this-machine EPYC-9654"});
    report.blocks.push_back(Command{"list_hardware_mappers --this-machine --output my_machine.json"});
    return report;
}

} // namespace archsim
