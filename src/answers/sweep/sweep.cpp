#include "answers/sweep/sweep.hpp"

#include "answers/sweep/ordered_work.hpp"
#include "answers/sweep/sweep_worker.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "fields/question.hpp"
#include "hardware/family_facts.hpp"
#include "report/blocks/number_format.hpp"
#include "result/cost_terms.hpp"
#include "result/format_parts.hpp"
#include "result/generation_metrics.hpp"
#include "session/prepared.hpp"
#include "session/usual_precision.hpp"
#include "session/varied_part.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace archsim {

constexpr std::int64_t kMaxFactors = 1'000'000; ///< of one axis
constexpr double kRounding = 1e-12;             ///< of a factor that was computed

[[noreturn]] static void malformed(std::string_view text, std::string_view why) {
    throw UsageError(fmt::format("\"{}\": {}; write NAME=0.5x,1x,2x or NAME=0.5x..4x:log8 or "
                                 "NAME=0.5x..4x:8, or values with a unit for factors",
                                 text, why));
}

/// The values of an axis, all of which are factors, or none.
class Amounts {
  public:
    Amounts(SweepAxis& axis, std::string_view text)
        : axis_(axis), part_(varied_part(axis.name)), text_(text) {
        axis.name = part_.name();
    }
    double read(std::string_view item) {
        const PartAmount amount = part_amount(part_, item, axis_.name);
        if (seen_ && amount.absolute != axis_.absolute)
            malformed(text_, "factors and values with a unit in one list");
        seen_ = true;
        axis_.absolute = amount.absolute;
        return amount.value;
    }

  private:
    SweepAxis& axis_;
    const VariedPart part_;
    std::string_view text_;
    bool seen_ = false;
};

static std::vector<double> parse_range(std::string_view text, std::string_view whole, Amounts& amounts) {
    const auto dots = text.find(".."), colon = text.rfind(':');
    if (colon == std::string_view::npos || colon < dots)
        malformed(whole, "a range needs the number of steps after a colon");
    const double low = amounts.read(text.substr(0, dots));
    const double high = amounts.read(text.substr(dots + 2, colon - dots - 2));
    std::string_view steps = text.substr(colon + 1);
    const bool logarithmic = steps.starts_with("log");
    if (logarithmic)
        steps.remove_prefix(3);
    const std::int64_t count = parse_whole(steps).value_or(0);
    if (count < 2 || count > kMaxFactors)
        malformed(whole, "the number of steps must be from 2 to 1000000");
    std::vector<double> factors;
    for (std::int64_t i = 0; i < count; ++i) {
        const double t = static_cast<double>(i) / static_cast<double>(count - 1);
        const double factor = logarithmic ? low * std::pow(high / low, t) : std::lerp(low, high, t);
        factors.push_back(std::abs(factor - 1) < kRounding ? 1 : factor);
    }
    return factors;
}

SweepAxis parse_sweep_axis(std::string_view text) {
    const auto sides = split_assignment(text);
    if (!sides)
        malformed(text, "no NAME=FACTORS");
    SweepAxis axis{std::string(sides->first), {}};
    Amounts amounts(axis, text);
    std::string_view values = sides->second;
    if (values.find("..") != std::string_view::npos) {
        axis.factors = parse_range(values, text, amounts);
        return axis;
    }
    while (!values.empty()) {
        const auto item = values.substr(0, values.find(','));
        axis.factors.push_back(amounts.read(item));
        values.remove_prefix(std::min(values.size(), item.size() + 1));
    }
    return axis;
}

std::optional<double> SweepRow::value(const Metric& metric) const {
    const auto rows = metrics->rows();
    auto at = std::ranges::find(rows, &metric); // the usual case, and quick
    if (at == rows.end())
        at = std::ranges::find_if(rows, [&](const Metric* m) { return *m == metric; });
    const auto i = static_cast<std::size_t>(at - rows.begin());
    return i < measures.size() && measures[i] ? std::optional(measures[i]->value) : std::nullopt;
}

void ParetoFront::add(const SweepRow& row) {
    if (!row.value(*first_) || !row.value(*second_))
        return;
    const auto no_worse = [&](const SweepRow& a, const SweepRow& b, const Metric& metric) {
        return !better(metric, *b.value(metric), *a.value(metric));
    };
    const auto beats = [&](const SweepRow& a, const SweepRow& b) {
        return a.model == b.model && no_worse(a, b, *first_) && no_worse(a, b, *second_);
    };
    std::vector<SweepRow>& front = leads(row.standing) ? front_ : unranked_;
    // The equal row with the lower index stays, whatever the order they come in.
    for (SweepRow& known : front)
        if (beats(known, row)) {
            if (beats(row, known) && row.point < known.point)
                known = row;
            return;
        }
    std::erase_if(front, [&](const SweepRow& known) { return beats(row, known); });
    front.push_back(row);
}

std::vector<SweepRow> ParetoFront::rows() const {
    std::vector<SweepRow> sorted = front_.empty() ? unranked_ : front_;
    std::ranges::sort(sorted, [this](const SweepRow& a, const SweepRow& b) {
        if (a.model != b.model)
            return a.model < b.model;
        const double x = *a.value(*first_), y = *b.value(*first_);
        return x != y ? better(*first_, x, y) : a.point < b.point;
    });
    return sorted;
}

/// The same estimate of another design.
static bool alike(const SweepRow& a, const SweepRow& b) {
    const auto values = [](const std::optional<Measure>& x, const std::optional<Measure>& y) {
        return x.has_value() == y.has_value() && (!x || x->value == y->value);
    };
    return a.hardware == b.hardware && a.executed == b.executed && a.batch == b.batch &&
           a.runtime == b.runtime &&
           std::equal(a.measures.begin(), a.measures.end(), b.measures.begin(), b.measures.end(), values);
}

bool BestRows::before(const SweepRow& a, const SweepRow& b) const {
    if (leads(a.standing) != leads(b.standing))
        return leads(a.standing);
    const double x = *a.value(*metric_), y = *b.value(*metric_);
    if (x != y)
        return better(*metric_, x, y);
    const auto changed = [](const SweepRow& row) { // of equal designs the one that changes least
        return row.factors.size() - static_cast<std::size_t>(std::ranges::count(row.factors, 1));
    };
    return std::pair(changed(a), a.point) < std::pair(changed(b), b.point);
}

void BestRows::keep_best(std::vector<SweepRow>& rows) const {
    std::ranges::sort(rows, [this](const SweepRow& a, const SweepRow& b) { return before(a, b); });
    if (most_ == 0)
        return;
    // Rows that a part does not change stand once, as the design that changes least.
    std::vector<SweepRow> kept;
    for (SweepRow& row : rows)
        if (kept.size() < most_ &&
            std::ranges::none_of(kept, [&](const SweepRow& k) { return alike(k, row); }))
            kept.push_back(std::move(row));
    rows = std::move(kept);
}

void BestRows::add(const SweepRow& row) {
    if (!row.value(*metric_))
        return;
    std::vector<SweepRow>& rows = kept_[row.model];
    // From `most_` rows on the first ones are sorted, and what is no better than the last of them is not
    // copied.
    if (most_ > 0 && rows.size() >= most_ && !before(row, rows[most_ - 1]))
        return;
    rows.push_back(row);
    if (most_ > 0 && (rows.size() == most_ || rows.size() == 2 * most_))
        keep_best(rows);
}

std::optional<SweepRow> BestRows::row_of(const std::string& model) const {
    for (SweepRow& row : rows())
        if (row.model == model)
            return std::move(row);
    return std::nullopt;
}

std::vector<SweepRow> BestRows::rows() const {
    std::vector<SweepRow> all;
    for (const auto& [model, kept] : kept_) {
        std::vector<SweepRow> best = kept;
        keep_best(best);
        append(all, best);
    }
    return all;
}

/// The metrics of rows of answers to prompts: the metrics of language models, and the time of a whole answer.
static const MetricTable& answer_metrics() {
    static const MetricTable table = [] {
        const auto rows = generation_metrics().rows();
        std::vector<const Metric*> all(rows.begin(), rows.end());
        all.push_back(&metric::latency);
        return MetricTable::of(std::move(all));
    }();
    return table;
}

constexpr std::uint64_t kRange = 256;         ///< points that a thread takes at a time
constexpr std::uint64_t kLargestRange = 8192; ///< with all of a model
constexpr std::uint64_t kMostShards = 1'000'000;
constexpr std::size_t kMostNotes = 8; ///< of factors that are built as others

static std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
    if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b)
        throw UsageError("the design space has more points than can be counted; leave an axis out");
    return a * b;
}

Sweep::Sweep(const Session& session, SweepRequest request) : session_(session), request_(std::move(request)) {
    if (request_.conditions.duty.stated())
        throw UsageError("how often a device works is no question to a design space: ask compare_models");
    for (const std::string& name : request_.models)
        models_.push_back(session.load(name));
    const auto answers = [&](const Model& model) {
        const Bindings& sizes = request_.sizes;
        return usual_question({.model = model, .sizes = sizes, .single_pass = request_.single_pass})
            .prompt.has_value();
    };
    if (!models_.empty() && !request_.prompt && std::ranges::all_of(models_, answers))
        request_.prompt.emplace();
    if (request_.precisions.empty() && !models_.empty())
        request_.precisions.push_back(usual_format());
    check();
    for (const Model& model : models_)
        sizes_.push_back(
            of_shared_sizes({model, request_.batches.front(), request_.sizes, request_.prompt}, models_)
                .sizes);
    if (request_.prompt) {
        for (const Model& model : models_) // those that answer none are refused now
            session.facts({model, request_.batches.front(), request_.sizes, request_.prompt});
        if (request_.view.metrics == &MetricTable::standard())
            request_.view.metrics = &answer_metrics();
    }
    devices_ = mapped(request_.hardware,
                      [&](const std::string& name) { return session.hardware().device(name).device; });
    request_.view.conditions = on_one_basis(devices_, request_.view.conditions);
    settle_axes();
    size_ = 1;
    for (const std::size_t n : {request_.models.size(), request_.batches.size(), request_.hardware.size(),
                                request_.precisions.size()})
        size_ = checked_product(size_, n);
    for (const SweepAxis& axis : request_.axes)
        size_ = checked_product(size_, axis.factors.size());
}

/// Makes factors of values, and of factors on the units of a single device those that can be built.
void Sweep::settle_axes() {
    for (std::size_t a = 0; a < request_.axes.size(); ++a) {
        SweepAxis& axis = request_.axes[a];
        if (axis.absolute) {
            if (devices_.size() > 1)
                throw UsageError(fmt::format("{}: a value with a unit is another factor on each of {} "
                                             "devices; give factors, or one device",
                                             axis.name, devices_.size()));
            const double own = own_amount(varied_part(axis.name),
                                          *session_.machine(request_.hardware[0], request_.conditions));
            for (double& value : axis.factors)
                value /= own;
            axis.absolute = false;
            axis.own = own;
        } else if (const VariedPart part = varied_part(axis.name);
                   devices_.size() == 1 && dimension_of(part) == PhysicalDimension::power) {
            // Throws where none is stated, so that factors on it would change nothing.
            own_amount(part, *session_.machine(request_.hardware[0], request_.conditions));
        }
        for (std::size_t h = 0; h < devices_.size(); ++h)
            for (const double factor : axis.factors)
                if (const double as = built(axis, factor, h);
                    std::abs(as - factor) > kRounding && notes_.size() < kMostNotes) {
                    const double units = unit_count(*devices_[h]);
                    notes_.push_back(fmt::format("{}: {} {}x is built as {}x, {:g} of {:g}.",
                                                 request_.hardware[h], axis.name, format_number(factor),
                                                 format_number(as), std::round(as * units), units));
                }
        if (devices_.size() > 1)
            continue;
        std::set<double> seen;
        std::vector<double> once;
        for (const double factor : built(a, 0))
            if (seen.insert(factor).second || axis.name != name_of(Structure::units))
                once.push_back(factor);
        axis.factors = std::move(once);
    }
}

double Sweep::built(const SweepAxis& axis, double factor, std::size_t hardware) const {
    return axis.name == name_of(Structure::units) ? built_units(*devices_[hardware], factor) : factor;
}

std::vector<double> Sweep::built(std::size_t axis, std::size_t hardware) const {
    return mapped(request_.axes[axis].factors,
                  [&](double factor) { return built(request_.axes[axis], factor, hardware); });
}

/// The format that all models have by themselves; that of each device where they have none, or differ.
std::string Sweep::usual_format() const {
    Conditions open = request_.conditions;
    open.weights.reset();
    std::set<std::string> own;
    for (const Model& model : models_)
        for (std::string& name :
             question_field("precision").print({{.model = model, .prompt = request_.prompt}, open}))
            own.insert(std::move(name));
    return own.size() == 1 ? *own.begin() : "usual";
}

void Sweep::check() {
    if (request_.models.empty() || request_.hardware.empty() || request_.batches.empty() ||
        request_.precisions.empty())
        throw UsageError("a sweep needs at least one model, device, batch size and precision");
    if (request_.shards == 0 || request_.shards > kMostShards || request_.shard >= request_.shards)
        throw UsageError(fmt::format("shard {}/{}: expected INDEX/COUNT with a count from 1 to {} and an "
                                     "index from 0 to one less than the count",
                                     request_.shard, request_.shards, kMostShards));
    for (const std::int64_t batch : request_.batches)
        if (batch < 1)
            throw UsageError(fmt::format("{} is no batch size", batch));
    for (const std::string& name : request_.hardware)
        session_.hardware().device(name);
    for (const std::string& name : request_.precisions) {
        Conditions& format = formats_.emplace_back(request_.conditions);
        format.weights = request_.weights;
        ask_precision(format, name);
        format.precision.weights = request_.weights.value_or(format.precision.weights);
    }
    if (request_.conditions.devices == 0 && !request_.prompt)
        throw UsageError("as many devices as needed: only for language models with a prompt");
    std::set<std::string> names;
    for (const SweepAxis& axis : request_.axes)
        if (!names.insert(axis.name).second)
            throw UsageError(fmt::format("\"{}\" is varied twice", axis.name));
}

SweepPoint Sweep::at(std::uint64_t number) const {
    SweepPoint point;
    point.number = number;
    point.factors.resize(request_.axes.size());
    const auto take = [&number](std::size_t n) {
        const auto index = static_cast<std::size_t>(number % n);
        number /= n;
        return index;
    };
    for (std::size_t i = request_.axes.size(); i-- > 0;)
        point.factors[i] = request_.axes[i].factors[take(request_.axes[i].factors.size())];
    point.batch = take(request_.batches.size());
    point.precision = take(request_.precisions.size());
    point.hardware = take(request_.hardware.size());
    for (std::size_t i = 0; i < request_.axes.size(); ++i)
        point.factors[i] = built(request_.axes[i], point.factors[i], point.hardware);
    point.model = take(request_.models.size());
    return point;
}

const Metric& Sweep::usual_order() const {
    const Metric& usual = ranked_by(request_.conditions);
    return !request_.prompt           ? usual
           : usual == metric::latency ? metric::token_rate
                                      : metric::total_token_rate;
}

std::uint64_t Sweep::first() const {
    return size_ / request_.shards * request_.shard + std::min(request_.shard, size_ % request_.shards);
}

std::uint64_t Sweep::last() const {
    return first() + size_ / request_.shards + (request_.shard < size_ % request_.shards ? 1 : 0);
}

std::string Sweep::content() const {
    return content_of(session_, request_, models_);
}

void Sweep::run(std::uint64_t from, unsigned threads,
                const std::function<bool(std::span<const SweepRow>)>& sink) const {
    threads = std::max(threads, 1U);
    SweepShared shared(session_, request_, models_, sizes_, threads);
    std::vector<SweepWorker> workers;
    workers.reserve(threads);
    for (unsigned i = 0; i < threads; ++i)
        workers.emplace_back(shared, formats_);
    // A thread that has a model for itself waits for nobody, if there are enough of them.
    const std::uint64_t of_model = size_ / models_.size();
    const bool whole_models = models_.size() >= std::size_t{4} * threads && of_model <= kLargestRange;
    in_order<std::vector<SweepRow>>(
        from, last(), whole_models ? std::max(kRange, of_model) : kRange, threads,
        [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
            std::vector<SweepRow> rows(end - begin);
            for (std::uint64_t number = begin; number < end; ++number)
                workers[worker].fill(at(number), rows[number - begin]);
            return rows;
        },
        [&sink](const std::vector<SweepRow>& rows) { return sink(rows); });
}

std::vector<AxisSensitivity> Sweep::sensitivities(const Metric& metric) const {
    SweepShared shared(session_, request_, models_, sizes_, 1);
    SweepWorker worker(shared, formats_);
    SweepPoint workload = at(0);
    const std::vector<double> own(request_.axes.size(), 1.0);
    const auto value = [&](const std::vector<double>& factors) {
        workload.factors = factors;
        SweepRow row;
        worker.fill(workload, row);
        const auto found = row.value(metric);
        if (!found)
            throw InputError(fmt::format("{} on {}: {}", row.model, row.hardware,
                                         row.status == Status::ok ? "no " + metric.noun : row.reason));
        return *found;
    };
    std::vector<AxisSensitivity> found;
    for (std::size_t i = 0; i < request_.axes.size(); ++i) {
        const SweepAxis& axis = request_.axes[i];
        const std::vector<double> factors = built(i, 0);
        const auto [low, high] = std::minmax_element(factors.begin(), factors.end());
        std::vector<double> one = own;
        AxisSensitivity s{.axis = axis.name, .low_factor = *low, .high_factor = *high};
        s.own_value = value(own);
        one[i] = *low;
        s.low_value = value(one);
        one[i] = *high;
        s.high_value = value(one);
        found.push_back(s);
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, &AxisSensitivity::swing);
    return found;
}

std::map<std::string, double> Sweep::factors(std::uint64_t point) const {
    std::map<std::string, double> all;
    const SweepPoint place = at(point);
    for (std::size_t i = 0; i < place.factors.size(); ++i)
        all[request_.axes[i].name] = place.factors[i];
    return all;
}

Result Sweep::result(std::uint64_t point, const std::map<std::string, double>& factors) const {
    const SweepPoint place = at(point);
    Conditions conditions = formats_[place.precision];
    for (const auto& [part, factor] : factors)
        varied_part(part).of(conditions) = factor;
    return session_.estimate(Workload{models_[place.model], request_.batches[place.batch],
                                      sizes_[place.model], request_.prompt, !request_.prompt},
                             request_.hardware[place.hardware], conditions);
}

} // namespace archsim
