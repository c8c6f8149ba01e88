#include "answers/architectures/model_classes.hpp"

#include "answers/architectures/architectures.hpp"
#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/result_text.hpp"
#include "result/format_parts.hpp"
#include "result/ties.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace archsim {

/// How many times better than the baseline an architecture is on a class.
static std::optional<double> times_better(const ModelClassComparison& c, const ModelClassRow& row,
                                          std::size_t i, const Metric& metric) {
    const auto own = value_of(row.results[i], metric), base = value_of(row.results[c.baseline], metric);
    if (!own || !base || *own <= 0 || *base <= 0)
        return std::nullopt;
    return metric.better == Better::lower ? *base / *own : *own / *base;
}

static bool overlaps_baseline(const ModelClassComparison& c, const ModelClassRow& row, std::size_t i,
                              const Metric& metric) {
    const auto own = measure_of(row.results[i], metric), base = measure_of(row.results[c.baseline], metric);
    return i != c.baseline && own && base &&
           tied(metric, row.results[i], *own, row.results[c.baseline], *base);
}

static Cell times_cell(const ModelClassComparison& c, const ModelClassRow& row, std::size_t i,
                       const Metric& metric) {
    const auto times = times_better(c, row, i, metric);
    if (!times)
        return {row.results[i].ok() ? "" : status_words(row.results[i].estimate), {}, Tone::muted};
    const Tone tone = *times > 1 ? Tone::good : *times < 1 ? Tone::bad : Tone::plain;
    return {fmt::format("{}{}", format_ratio(*times), overlaps_baseline(c, row, i, metric) ? " =" : ""),
            *times, tone};
}

static std::string titles_of(const ModelClassComparison& c, const std::vector<std::size_t>& rows) {
    if (rows.size() == c.rows.size() && rows.size() > 2)
        return fmt::format("all {} classes", rows.size());
    return rows.empty() ? "none of these classes"
                        : joined(rows, [&](std::size_t r) { return c.rows[r].what.title; });
}

/// True where an architecture's estimates of some class are projections.
static bool is_projected(const ModelClassComparison& c, std::size_t architecture) {
    return std::ranges::any_of(
        c.rows, [&](const ModelClassRow& row) { return !may_lead(row.results[architecture].estimate); });
}

/// How many classes each architecture leads in, by winners that were measured where any was.
struct Leads {
    std::vector<std::size_t> measured, projected; ///< per architecture; projected: would be better than those
};

static Leads leads_of(const ModelClassComparison& c, const Metric& metric) {
    Leads leads{std::vector<std::size_t>(c.labels.size()), std::vector<std::size_t>(c.labels.size())};
    for (const ModelClassRow& row : c.rows) {
        const auto winner = find_winner(row.results, metric);
        if (!winner)
            continue;
        const bool only_projections = !may_lead(row.results[winner->best].estimate);
        ++(only_projections ? leads.projected : leads.measured)[winner->best];
        if (winner->projected)
            ++leads.projected[*winner->projected];
    }
    return leads;
}

/// "TPU on 8 of 13 classes, GPU on 5": who leads how often, most often first; empty: nobody.
static std::string leaders_text(const ModelClassComparison& c, const std::vector<std::size_t>& counts) {
    std::vector<std::size_t> order = indices(c.labels.size());
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
    return joined(order, [&](std::size_t i) {
        return counts[i] == 0 ? std::string()
                              : fmt::format("{} on {}{}", c.labels[i], counts[i],
                                            i == order.front() ? fmt::format(" of {} classes", c.rows.size())
                                                               : std::string());
    });
}

/// "Fastest: GPU on 13 of 13 classes. Least energy: ...", and of projections what they would be.
static std::vector<std::string> leaders_lines(const ModelClassComparison& c) {
    const Leads fast = leads_of(c, metric::latency), frugal = leads_of(c, metric::energy);
    std::vector<std::string> lines;
    const auto add = [&](std::string_view head, const std::string& first, const std::string& second) {
        std::string text;
        if (!first.empty())
            text = fmt::format("{}astest: {}.", head.empty() ? "F" : "f", first);
        if (!second.empty())
            text += fmt::format("{}Least energy: {}.", first.empty() ? "" : " ", second);
        if (!text.empty())
            lines.push_back(fmt::format("{}{}", head, text));
    };
    add("", leaders_text(c, fast.measured), leaders_text(c, frugal.measured));
    add("Projected to do better, not measured: ", leaders_text(c, fast.projected),
        leaders_text(c, frugal.projected));
    return lines;
}

/// Which formats the architectures multiply in: "fp32 on CPU and KPU, tf32 on GPU"; empty: one, as asked.
static std::string class_formats_text(const ModelClassComparison& c) {
    if (c.rows.empty() || !c.request.conditions.precision.named() || !mixed_formats(c.rows.front().results))
        return "";
    NamesByText formats;
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        if (const Result& r = c.rows.front().results[i]; r.ok())
            names_under(multiplied_format(r), formats).push_back(c.labels[i]);
    return joined(formats, [](const auto& format) {
        return fmt::format("{} on {}", format.first, fmt::join(format.second, ", "));
    });
}

/// Who is fastest and most frugal how often, and who does not run everything.
static std::vector<std::string> class_lines(const ModelClassComparison& c) {
    std::vector<std::string> lines = leaders_lines(c);
    if (const std::string formats = class_formats_text(c); !formats.empty())
        lines.push_back(fmt::format("Formats differ, {} was requested: {}.",
                                    precision_name(c.request.conditions.precision), formats));
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        if (!c.profiles[i].unable.empty())
            lines.push_back(
                fmt::format("{} has no estimate for {}.", c.labels[i], titles_of(c, c.profiles[i].unable)));
    return lines;
}

static Table times_table(const ModelClassComparison& c, const Metric& metric, const char* words) {
    std::vector<ColumnOf<ModelClassRow>> columns = {
        {{"Model class", "", "class"}, [](const ModelClassRow& row) { return row.what.title; }},
        {{"Model", "", "model", Align::left, 1}, [](const ModelClassRow& row) { return row.what.model; }}};
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        columns.emplace_back(most_best(c.labels[i], "", c.labels[i]),
                             [&, i](const ModelClassRow& row) { return times_cell(c, row, i, metric); });
    Table table =
        table_of(fmt::format("Times {} {}, by model class", words, c.labels[c.baseline]), columns, c.rows);
    const bool marked = std::ranges::any_of(c.rows, [&](const ModelClassRow& row) {
        for (std::size_t i = 0; i < c.labels.size(); ++i)
            if (overlaps_baseline(c, row, i, metric))
                return true;
        return false;
    });
    if (marked)
        table.notes.push_back("=: the better of the two leads by odds of less than 3 to 1");
    const std::string projected = joined(indices(c.labels.size()), [&](std::size_t i) {
        return is_projected(c, i) ? c.labels[i] : std::string();
    });
    if (!projected.empty())
        table.notes.push_back(projected + ": projection: no comparable device was measured on this stack");
    return table;
}

/// A row per class, a column per architecture.
static Chart times_chart(const ModelClassComparison& c) {
    Chart chart{ChartKind::heat_map,
                "Speed by model class",
                "architecture",
                fmt::format("times faster than {}", c.labels[c.baseline]),
                false,
                true};
    for (const ModelClassRow& row : c.rows) {
        ChartSeries series{std::string(row.what.title), {}};
        for (std::size_t i = 0; i < c.labels.size(); ++i) {
            const auto times = times_better(c, row, i, metric::latency);
            series.points.push_back({.label = c.labels[i],
                                     .y = times.value_or(std::numeric_limits<double>::quiet_NaN()),
                                     .hover = times ? format_ratio(*times) : std::string()});
        }
        chart.series.push_back(std::move(series));
    }
    return chart;
}

static std::string quantity_words(const Metric& metric, bool better) {
    if (metric == metric::latency)
        return better ? "faster than" : "slower than";
    return better ? "less energy per inference than" : "more energy per inference than";
}

/// Throughput at the small batch over that at the large one.
static double share_at_small(const ModelClassRow& row, std::size_t i) {
    return *value_of(row.results[i], metric::throughput) / *value_of(row.batched[i], metric::throughput);
}

/// One claim with the comparison that shows it.
static std::string claim_text(const ModelClassComparison& c, std::size_t self, const ClassClaim& claim) {
    const ModelClassRow& row = c.rows[claim.row];
    const Metric& metric = *claim.metric;
    const std::string own = format_value(metric, *value_of(row.results[self], metric));
    if (!claim.other && claim.small_batches)
        return fmt::format("small batches: {:.0f} % of the throughput of batch {} at batch {} on {} ({} "
                           "against {}); the others reach {:.0f} % or less",
                           100 * share_at_small(row, self), c.request.larger_batch, c.request.batch,
                           row.what.model, own, format_value(metric, *value_of(row.batched[self], metric)),
                           100 * share_at_small(row, self) / claim.ratio);
    if (!claim.other)
        return fmt::format("gains from batches: {} throughput at batch {} on {} ({} against {})",
                           format_ratio(claim.ratio), c.request.larger_batch, row.what.model,
                           format_value(metric, *value_of(row.batched[self], metric)), own);
    const std::string theirs = format_value(metric, *value_of(row.results[*claim.other], metric));
    return fmt::format("{}: {} {} {} ({}: {} against {})", row.what.title, format_ratio(claim.ratio),
                       quantity_words(metric, claim.better), c.labels[*claim.other], row.what.model, own,
                       theirs);
}

static void add_profile(const ModelClassComparison& c, std::size_t i, Report& report) {
    const ArchitectureProfile& profile = c.profiles[i];
    const bool projected = is_projected(c, i);
    report.blocks.push_back(Heading{2, fmt::format("{}: strengths and weaknesses{}", c.labels[i],
                                                   projected ? ", projected and not measured" : "")});
    if (const Result& any = c.rows.front().results[i]; any.device) {
        Facts facts = device_facts(any);
        facts.add("Price", price_text(any, {}));
        report.blocks.push_back(std::move(facts));
        Facts properties;
        for (const FamilyProperty& own : any.device->family.row().properties)
            properties.add(std::string(own.aspect), fmt::format("{} ({})", own.text, own.source), 1);
        if (!properties.items.empty())
            add_blocks(report, Heading{3, "Properties of the architecture:"}, std::move(properties));
    }
    const auto list = [&](const char* heading, const std::vector<ClassClaim>& claims, const char* none) {
        report.blocks.push_back(Heading{3, heading});
        Bullets bullets;
        for (const ClassClaim& claim : claims)
            bullets.items.push_back(claim_text(c, i, claim));
        if (bullets.items.empty())
            bullets.items.push_back(none);
        report.blocks.push_back(std::move(bullets));
    };
    list("Strengths:", profile.strengths, "no class in which it is clearly ahead of the others");
    list("Weaknesses:", profile.weaknesses, "no class in which another is clearly ahead");
    Facts best;
    const char* would = projected ? "Projected best for" : "Best for";
    if (profile.peers.size() + 1 < c.labels.size())
        best.add("Speed compared with",
                 profile.peers.empty()
                     ? fmt::format("none here has a power limit within {:.0f}x of its own", kComparablePower)
                     : joined(profile.peers, [&](std::size_t peer) { return c.labels[peer]; }));
    if (!profile.peers.empty())
        best.add(fmt::format("{} latency", would), titles_of(c, profile.best_for));
    best.add(fmt::format("{} energy", would), titles_of(c, profile.frugal_for));
    if (!profile.unable.empty())
        best.add("Does not run", titles_of(c, profile.unable));
    report.blocks.push_back(std::move(best));
}

struct ClassCell {
    const ModelClassComparison* comparison;
    const ModelClassRow* row;
    std::size_t architecture;

    const Result& result() const { return row->results[architecture]; }
};

static std::vector<ColumnOf<ClassCell>> class_columns() {
    using C = ClassCell;
    const auto times = [](const Metric& metric) {
        return [&metric](const C& cell) {
            return times_better(*cell.comparison, *cell.row, cell.architecture, metric);
        };
    };
    const auto value = [](const Metric& metric) {
        return [&metric](const C& cell) { return value_of(cell.result(), metric); };
    };
    const auto text = [](const char* key, const char* meaning, auto of) {
        return ColumnOf<C>{plain_column(key), of, CellType::text, meaning};
    };
    return {
        text("class", "of models", [](const C& cell) { return cell.row->what.title; }),
        text("model", "that stands for it", [](const C& cell) { return cell.row->what.model; }),
        text("architecture", "", [](const C& cell) { return cell.comparison->labels[cell.architecture]; }),
        text("hardware", "", [](const C& cell) { return cell.result().hardware; }),
        text("runtime", "software stack", [](const C& cell) { return runtime_label(cell.result()); }),
        text("status", "", [](const C& cell) { return status_text(cell.result().estimate); }),
        {plain_column(metric::latency.field), value(metric::latency), CellType::number, "of the batch"},
        {plain_column(metric::energy.field), value(metric::energy), CellType::number, "of an item"},
        {plain_column("times_faster"), times(metric::latency), CellType::number, "than the baseline"},
        {plain_column("times_less_energy"), times(metric::energy), CellType::number, "than the baseline"}};
}

static std::vector<ClassCell> class_cells(const ModelClassComparison& c) {
    std::vector<ClassCell> cells;
    for (const ModelClassRow& row : c.rows)
        for (std::size_t i = 0; i < c.labels.size(); ++i)
            cells.push_back({&c, &row, i});
    return cells;
}

struct ProfiledArchitecture {
    const ModelClassComparison* all = nullptr;
    std::size_t index = 0;

    const ArchitectureProfile& profile() const { return all->profiles[index]; }
};

struct ShownClaim {
    ProfiledArchitecture of;
    const ClassClaim* claim = nullptr;

    const ModelClass& about() const { return of.all->rows[claim->row].what; }
};

static Members<ShownClaim> claim_members() {
    using S = ShownClaim;
    return {{"class", "of models", [](const S& s) { return s.about().title; }},
            {"model", "that stands for it", [](const S& s) { return s.about().model; }},
            {"metric", "", [](const S& s) { return s.claim->metric->key; }},
            {"against", "another architecture, or itself at the larger batch",
             [](const S& s) {
                 return s.claim->other ? s.of.all->labels[*s.claim->other]
                                       : fmt::format("batch {}", s.of.all->request.larger_batch);
             }},
            {"ratio", "at least 1", [](const S& s) { return s.claim->ratio; }},
            {"text", "", [](const S& s) { return claim_text(*s.of.all, s.of.index, *s.claim); }}};
}

static Members<ProfiledArchitecture> profiled_architecture_members() {
    using P = ProfiledArchitecture;
    const auto claims = [](std::vector<ClassClaim> ArchitectureProfile::*which) {
        return [which](const P& p) {
            return mapped(p.profile().*which, [&](const ClassClaim& claim) { return ShownClaim{p, &claim}; });
        };
    };
    const auto titles = [](std::vector<std::size_t> ArchitectureProfile::*which) {
        return [which](const P& p) {
            return mapped(p.profile().*which,
                          [&](const std::size_t row) { return std::string(p.all->rows[row].what.title); });
        };
    };
    return {
        {"architecture", "", [](const P& p) { return p.all->labels[p.index]; }},
        {"properties", "of its family, with their sources",
         [](const P& p) {
             const auto& device = p.all->rows.front().results[p.index].device;
             return device ? std::span(device->family.row().properties) : std::span<const FamilyProperty>();
         },
         Members<FamilyProperty>{
             {"aspect", "programmability, driver, flexibility, use ...", &FamilyProperty::aspect},
             {"text", "", &FamilyProperty::text},
             {"source", "", &FamilyProperty::source}}},
        {"compared_with", "architectures of comparable power, with which its speed is compared",
         [](const P& p) {
             return mapped(p.profile().peers, [&](const std::size_t peer) { return p.all->labels[peer]; });
         }},
        {"strengths", "", claims(&ArchitectureProfile::strengths), claim_members()},
        {"weaknesses", "", claims(&ArchitectureProfile::weaknesses), claim_members()},
        {"best_for_latency", "classes", titles(&ArchitectureProfile::best_for)},
        {"best_for_energy", "classes", titles(&ArchitectureProfile::frugal_for)},
        {"does_not_run", "classes", titles(&ArchitectureProfile::unable)}};
}

Report describe(const ModelClassComparison& c, PlainView, Format format) {
    Report report{"Model classes", {}};
    if (format == Format::csv)
        return {report.title, {table_of({}, class_columns(), class_cells(c))}};
    add_blocks(report, Heading{1, "Architecture Comparison: model classes"}, Takeaway{class_lines(c)},
               Paragraph{fmt::format("The batch size is {} and the requested precision {}.", c.request.batch,
                                     precision_name(c.request.conditions.precision))},
               times_table(c, metric::latency, "faster than"),
               times_table(c, metric::energy, "less energy per inference than"), times_chart(c));
    if (!c.rows.empty())
        report.blocks.push_back(architecture_differences(c.labels, c.rows.front().results));
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        add_profile(c, i, report);
    report.blocks.push_back(Paragraph{"A strength or a weakness is a comparison with the best of the others "
                                      "whose 90 % intervals do not overlap, "
                                      "of speed within a class of power (limits at most ten times apart); "
                                      "\"best for\" goes by the estimates alone."});
    return report;
}

AnswerDocument document_of(const ModelClassComparison& comparison, PlainView) {
    using C = ModelClassComparison;
    return {comparison,
            "model_classes",
            "architectures over classes of models",
            {{"verdict", "the answer", class_lines, lines_members()},
             {"baseline", "that others are compared with", [](const C& c) { return c.labels[c.baseline]; }},
             {"batch_size", "items", [](const C& c) { return c.request.batch; }},
             {"larger_batch", "items", [](const C& c) { return c.request.larger_batch; }},
             {"precision", "format asked for",
              [](const C& c) { return precision_name(c.request.conditions.precision); }},
             {"rows", "class by class", class_cells, members_of(class_columns())},
             {"architectures", "",
              [](const C& c) {
                  return mapped(indices(c.labels.size()), [&](std::size_t i) {
                      return ProfiledArchitecture{&c, i};
                  });
              },
              profiled_architecture_members()}}};
}

} // namespace archsim
