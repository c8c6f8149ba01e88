// Loop, Scan and SequenceMap. A short loop is walked iteration by iteration, which is exact and folds what
// depends on the counter. A longer one is walked once and counted `repeat` times when its carried shapes stay
// the same; where they grow by a constant step, the middle iteration stands for all and the last gives the
// result.

#include "ops/engine.hpp"

#include "ops/common.hpp"

namespace archsim {

constexpr std::int64_t kUnrolledTrips = 64;
constexpr double kUnrolledNodes = 4096; ///< of one loop, in all copies that loops around it make
/// Trip counts above this stand for "until the condition ends it".
constexpr std::int64_t kUnboundedTrips = std::int64_t{1} << 40;

static const Constant* value_of(BindEngine& engine, TensorId id) {
    return id == kNoTensor ? nullptr : engine.state().values[id];
}

static void set_scalar(BindEngine& engine, TensorId id, DataType type, std::optional<std::int64_t> value) {
    ShapedTensor& t = engine.graph().tensors[id];
    t.type = type;
    t.shape = {};
    t.known = true;
    t.constant = value.has_value();
    if (!value)
        return;
    engine.state().values[id] = &engine.state().arena.emplace_back(Constant{.type = type, .ints = {*value}});
}

static void require_known(BindEngine& engine, const std::vector<TensorId>& ids) {
    for (const TensorId id : ids)
        if (id != kNoTensor && !engine.graph().tensors[id].known) {
            engine.note_skipped();
            throw NodeProblem{FindingKind::unresolved_dimension, "an input of the loop has no shape",
                              "fix the findings before this one"};
        }
}

// --- Loop

class LoopRunner {
  public:
    LoopRunner(BindEngine& engine, const BindScope& scope, const Node& node)
        : engine_(engine), scope_(scope), node_(node), body_(body_of(node, "body")) {
        if (body_.inputs.size() < 2 || node.inputs.size() < 2 || body_.inputs.size() < node.inputs.size() ||
            body_.outputs.size() + 1 < body_.inputs.size())
            malformed("the body's inputs and outputs do not fit the node");
        carried_ = body_.inputs.size() - 2;
        for (std::size_t i = 0; i < carried_; ++i)
            state_.push_back(scope.bound(node.inputs, i + 2));
        require_known(engine, state_);
    }

    void run() {
        find_trips();
        const double nodes =
            static_cast<double>(trips_) * std::max(1.0, static_cast<double>(body_.nodes.size()));
        if (bounded_ && trips_ > 0 && trips_ <= kUnrolledTrips && nodes * scope_.copies <= kUnrolledNodes &&
            engine_.may_unroll(nodes))
            unroll();
        else
            repeat();
    }

  private:
    /// Trip count from M, the first condition and the user's choice.
    void find_trips() {
        const Constant* limit = value_of(engine_, scope_.bound(node_.inputs, 0));
        const Constant* condition = value_of(engine_, scope_.bound(node_.inputs, 1));
        const std::string name = scope_.prefix + node_.name;
        if (condition && !condition->ints.empty() && condition->ints[0] == 0) {
            trips_ = 0;
        } else if (const auto given = engine_.state().given_dim(name)) {
            trips_ = std::max<std::int64_t>(*given, 0);
            chosen_ = true;
            report(Severity::note, "the given trip count " + std::to_string(trips_) + " is used",
                   "change it with --dim " + name + "=N");
        } else if (limit && !limit->ints.empty() && limit->ints[0] < kUnboundedTrips) {
            trips_ = std::max<std::int64_t>(limit->ints[0], 0);
        } else {
            trips_ = 1;
            bounded_ = false;
        }
    }

    void report(Severity severity, std::string message, std::string hint) {
        engine_.state().scope = &scope_;
        engine_.state().report(node_,
                               severity == Severity::error ? FindingKind::unresolved_dimension
                                                           : FindingKind::data_dependent_shape,
                               severity, std::move(message), std::move(hint));
    }

    /// Judges the trip count by the condition computed in the body.
    void judge_condition(const Constant* condition) {
        if (chosen_ || (condition && !condition->ints.empty() && condition->ints[0] != 0 && bounded_))
            return;
        const std::string name = scope_.prefix + node_.name;
        if (!bounded_) {
            const TensorId limit = scope_.bound(node_.inputs, 0);
            const bool given = limit != kNoTensor && engine_.graph().tensors[limit].role == TensorRole::input;
            report(Severity::error, "the trip count is only known at run time and has no upper bound",
                   given ? "give it with --input " + engine_.graph().tensors[limit].name + "=N or --dim " +
                               name + "=N"
                         : "give it with --dim " + name + "=N");
        } else if (!condition || condition->ints.empty()) {
            data_dependent_ = true;
            report(Severity::note,
                   "the loop may end early; its upper bound of " + std::to_string(trips_) + " trips is used",
                   "give the expected trip count with --dim " + name + "=N");
        }
    }

    /// The tensor that a turn reads as its state. A runtime does not unroll a loop: a state that happens to
    /// be known when the first turn begins (zeros) leaves no product of that turn out. Counters and shapes
    /// stay known.
    TensorId entering(TensorId state, TensorId formal) {
        const ShapedTensor& known = engine_.graph().tensors[state];
        if (!known.constant || !is_floating(known.type))
            return state;
        engine_.copy(state, formal, true);
        engine_.graph().tensors[formal].constant = false;
        engine_.link(scope_, node_, {state}, {formal});
        return formal;
    }

    void unroll() {
        std::vector<std::vector<TensorId>> scans(body_.outputs.size() - 1 - carried_);
        std::vector<TensorId> state = state_;
        std::int64_t done = 0;
        bool uncertain = false;
        for (; done < trips_; ++done) {
            BindScope inner = engine_.open(scope_, body_, body_prefix(scope_, node_, done), scope_.repeat);
            inner.copies = scope_.copies * static_cast<double>(trips_);
            set_scalar(engine_, inner.ids[body_.inputs[0]], DataType::int64, done);
            set_scalar(engine_, inner.ids[body_.inputs[1]], DataType::boolean, 1);
            for (std::size_t i = 0; i < carried_; ++i)
                if (state[i] != kNoTensor)
                    inner.ids[body_.inputs[i + 2]] = entering(state[i], inner.ids[body_.inputs[i + 2]]);
            engine_.run(inner);
            const auto results = inner.bound(body_.outputs);
            for (std::size_t i = 0; i < carried_; ++i)
                state[i] = results[i + 1];
            for (std::size_t i = 0; i < scans.size(); ++i)
                scans[i].push_back(results[i + 1 + carried_]);
            const Constant* condition = value_of(engine_, results[0]);
            uncertain = uncertain || !condition;
            conditions_.push_back(results[0]);
            if (condition && !condition->ints.empty() && condition->ints[0] == 0 && !chosen_) {
                ++done;
                break;
            }
        }
        if (uncertain)
            judge_condition(nullptr);
        std::vector<TensorId> sources = state, results;
        for (std::size_t i = 0; i < carried_; ++i) {
            results.push_back(scope_.bound(node_.outputs, i));
            engine_.copy(state[i], results.back(), !uncertain || chosen_);
        }
        for (std::size_t i = 0; i < scans.size(); ++i) {
            results.push_back(scope_.bound(node_.outputs, carried_ + i));
            stack(scans[i].empty() ? kNoTensor : scans[i].back(), results.back(), done);
            sources.insert(sources.end(), scans[i].begin(), scans[i].end());
        }
        finish(std::move(sources), std::move(results));
    }

    /// Walks the body once for all iterations, carried tensors having the given shapes.
    std::vector<TensorId> walk(const std::vector<Shape>& shapes, double repeats) {
        BindScope inner = engine_.open(scope_, body_, body_prefix(scope_, node_), repeats);
        set_scalar(engine_, inner.ids[body_.inputs[0]], DataType::int64, std::nullopt);
        set_scalar(engine_, inner.ids[body_.inputs[1]], DataType::boolean, 1);
        std::vector<TensorId> formals{inner.ids[body_.inputs[0]]};
        for (std::size_t i = 0; i < carried_; ++i) {
            const TensorId formal = inner.ids[body_.inputs[i + 2]];
            engine_.copy(state_[i], formal, false);
            engine_.graph().tensors[formal].shape = shapes[i];
            formals.push_back(formal);
        }
        engine_.link(inner, node_, state_, formals);
        engine_.run(inner);
        return inner.bound(body_.outputs);
    }

    Shape shape_of(TensorId id) const {
        return id == kNoTensor ? Shape{} : engine_.graph().tensors[id].shape;
    }

    void repeat() {
        std::vector<Shape> start;
        for (const TensorId id : state_)
            start.push_back(shape_of(id));
        const BindEngine::Mark mark = engine_.mark();
        const std::size_t found = engine_.graph().findings.size();
        std::vector<TensorId> results = walk(start, scope_.repeat * static_cast<double>(trips_));
        if (trips_ > 1) {
            // A list that the first turn gives its size keeps it.
            std::vector<Shape> settled = start;
            for (std::size_t i = 0; i < carried_; ++i)
                settled[i] = shape_of(results[i + 1]);
            if (settled != start) {
                const BindEngine::Mark second = engine_.mark();
                const std::size_t found_once = engine_.graph().findings.size();
                const auto again = walk(settled, scope_.repeat * static_cast<double>(trips_));
                bool same = true;
                for (std::size_t i = 0; i < carried_; ++i)
                    same = same && shape_of(again[i + 1]) == settled[i];
                engine_.graph().findings.resize(same ? found : found_once);
                engine_.rewind(same ? mark : second);
                if (same) {
                    start = settled;
                    results = walk(start, scope_.repeat * static_cast<double>(trips_));
                }
            }
        }
        std::vector<Shape> middle = start, last = start;
        bool grows = false;
        for (std::size_t i = 0; i < carried_; ++i) {
            const Shape after = shape_of(results[i + 1]);
            if (after == start[i])
                continue;
            if (after.size() != start[i].size()) {
                last[i] = after;
                continue;
            }
            grows = true;
            for (std::size_t d = 0; d < after.size(); ++d) {
                const double step = static_cast<double>(after[d]) - static_cast<double>(start[i][d]);
                const auto trips = static_cast<double>(trips_);
                middle[i][d] =
                    saturated_int(std::max(0.0, static_cast<double>(start[i][d]) + step * (trips - 1) / 2));
                last[i][d] = saturated_int(std::max(0.0, static_cast<double>(start[i][d]) + step * trips));
            }
        }
        if (grows && trips_ > 1) {
            for (const auto& shapes : {middle, last})
                for (const Shape& shape : shapes)
                    require_shape(shape);
            engine_.rewind(mark);
            results = walk(middle, scope_.repeat * static_cast<double>(trips_));
        }
        if (trips_ > 0) {
            judge_condition(value_of(engine_, results[0]));
            conditions_.push_back(results[0]);
        }
        std::vector<TensorId> outputs;
        for (std::size_t i = 0; i < carried_; ++i) {
            outputs.push_back(scope_.bound(node_.outputs, i));
            engine_.copy(trips_ > 0 ? results[i + 1] : state_[i], outputs.back(), false);
            if (outputs.back() != kNoTensor && trips_ > 0 && (grows || last[i] != start[i]))
                engine_.graph().tensors[outputs.back()].shape = last[i];
        }
        for (std::size_t i = carried_; i + 1 < body_.outputs.size(); ++i) {
            outputs.push_back(scope_.bound(node_.outputs, i));
            stack(results[i + 1], outputs.back(), trips_);
        }
        results.erase(results.begin());
        if (trips_ == 0) {
            engine_.drop_operators(mark.operators, engine_.graph().operators.size());
            results = state_;
        }
        finish(std::move(results), std::move(outputs));
    }

    /// A scan output: the results of all iterations under a new leading axis.
    void stack(TensorId element, TensorId to, std::int64_t trips) {
        if (element == kNoTensor || to == kNoTensor)
            return;
        engine_.copy(element, to, false);
        ShapedTensor& t = engine_.graph().tensors[to];
        t.shape.insert(t.shape.begin(), trips);
        require_shape(t.shape);
    }

    void finish(std::vector<TensorId> sources, std::vector<TensorId> outputs) {
        if (data_dependent_ || chosen_)
            for (const TensorId id : outputs)
                if (id != kNoTensor)
                    engine_.graph().tensors[id].data_dependent = true;
        // Operators that compute the conditions and the number of trips run for their own sake.
        sources.insert(sources.end(), conditions_.begin(), conditions_.end());
        for (std::size_t i = 0; i < 2; ++i)
            sources.push_back(scope_.bound(node_.inputs, i));
        engine_.link(scope_, node_, std::move(sources), std::move(outputs));
        engine_.state().scope = &scope_;
    }

    BindEngine& engine_;
    const BindScope& scope_;
    const Node& node_;
    const Graph& body_;
    std::size_t carried_ = 0;
    std::vector<TensorId> state_;
    std::vector<TensorId> conditions_; ///< computed by the body in each trip
    std::int64_t trips_ = 0;
    bool bounded_ = true, chosen_ = false, data_dependent_ = false;
};

// --- Scan

static std::int64_t axis_of(const Node& node, std::string_view key, std::size_t i) {
    const AttributeValue* value = node.attribute(key);
    const auto* axes = value ? std::get_if<std::vector<std::int64_t>>(value) : nullptr;
    return axes && i < axes->size() ? (*axes)[i] : 0;
}

void run_loop(BindEngine& engine, const BindScope& scope, const Node& node) {
    LoopRunner(engine, scope, node).run();
}

void run_scan(BindEngine& engine, const BindScope& scope, const Node& node) {
    const Graph& body = body_of(node, "body");
    // Opset 8 had sequence lengths as the first input and a batch axis on everything.
    const bool batched = node.opset < 9;
    const std::size_t skip = batched ? 1 : 0;
    const AttributeValue* count = node.attribute("num_scan_inputs");
    const auto* scans = count ? std::get_if<std::int64_t>(count) : nullptr;
    if (!scans || *scans < 1 || node.inputs.size() < skip ||
        body.inputs.size() + skip != node.inputs.size() ||
        static_cast<std::size_t>(*scans) > body.inputs.size())
        malformed("the body's inputs do not fit the node");
    const std::size_t states = body.inputs.size() - static_cast<std::size_t>(*scans);
    if (body.outputs.size() < states)
        malformed("the body has fewer outputs than states");
    std::vector<TensorId> actual;
    for (std::size_t i = 0; i < body.inputs.size(); ++i)
        actual.push_back(scope.bound(node.inputs, i + skip));
    require_known(engine, actual);
    std::vector<Shape> shapes;
    std::int64_t trips = -1, batch = 1;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        Shape shape = actual[i] == kNoTensor ? Shape{} : engine.graph().tensors[actual[i]].shape;
        if (batched) {
            if (shape.empty())
                malformed("a batch axis is missing");
            batch = shape.front();
            shape.erase(shape.begin());
        }
        if (i >= states) {
            const std::size_t axis =
                normalized_axis(batched ? 0 : axis_of(node, "scan_input_axes", i - states), shape.size());
            if (trips >= 0 && shape[axis] != trips)
                malformed("the scanned inputs differ in length");
            trips = shape[axis];
            shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
        }
        shapes.push_back(std::move(shape));
    }
    BindScope inner = engine.open(scope, body, body_prefix(scope, node),
                                  scope.repeat * static_cast<double>(trips) * static_cast<double>(batch));
    std::vector<TensorId> formals;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        formals.push_back(inner.ids[body.inputs[i]]);
        engine.copy(actual[i], formals.back(), false);
        engine.graph().tensors[formals.back()].shape = shapes[i];
    }
    engine.link(inner, node, actual, formals);
    engine.run(inner);
    std::vector<TensorId> results, outputs;
    for (std::size_t i = 0; i < body.outputs.size(); ++i) {
        results.push_back(inner.bound(body.outputs[i]));
        outputs.push_back(scope.bound(node.outputs, i));
        engine.copy(results.back(), outputs.back(), false);
        if (outputs.back() == kNoTensor)
            continue;
        Shape& shape = engine.graph().tensors[outputs.back()].shape;
        if (i >= states) {
            const std::int64_t axis = batched ? 0 : axis_of(node, "scan_output_axes", i - states);
            const std::size_t at = normalized_axis(axis, shape.size() + 1);
            shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), trips);
        }
        if (batched)
            shape.insert(shape.begin(), batch);
        require_shape(shape);
    }
    engine.link(scope, node, std::move(results), std::move(outputs));
    engine.state().scope = &scope;
}

void run_sequence_map(BindEngine& engine, const BindScope& scope, const Node& node) {
    const Graph& body = body_of(node, "body");
    if (node.inputs.empty() || body.inputs.size() != node.inputs.size())
        malformed("the body's inputs do not fit the node");
    auto& sequences = engine.state().sequences;
    std::vector<TensorId> actual;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        actual.push_back(scope.bound(node.inputs, i));
    const auto first = sequences.find(actual[0]);
    const std::string name = scope.prefix + node.name;
    const auto given = engine.state().given_dim(name);
    std::size_t length = 0;
    bool uniform = false; // one walk stands for all elements
    if (first != sequences.end()) {
        length = first->second->size();
    } else if (given && *given >= 0) {
        length = static_cast<std::size_t>(*given);
        uniform = true;
    } else {
        uniform = true;
        length = 1;
        engine.state().report(node, FindingKind::unresolved_dimension, Severity::error,
                              "the length of the sequence is only known at run time",
                              "give it with --dim " + name + "=N");
    }
    std::vector<SequenceElements> outputs(body.outputs.size());
    std::vector<TensorId> sources;
    const std::size_t walks = uniform ? std::min<std::size_t>(length, 1) : length;
    for (std::size_t k = 0; k < walks; ++k) {
        const double repeat = scope.repeat * (uniform ? static_cast<double>(length) : 1.0);
        BindScope inner =
            engine.open(scope, body, body_prefix(scope, node, static_cast<std::int64_t>(k)), repeat);
        inner.copies = scope.copies * static_cast<double>(walks);
        std::vector<TensorId> formals;
        for (std::size_t i = 0; i < actual.size(); ++i) {
            if (actual[i] == kNoTensor)
                continue;
            const TensorId formal = inner.ids[body.inputs[i]];
            formals.push_back(formal);
            const auto elements = sequences.find(actual[i]);
            const bool is_sequence = engine.graph().tensors[actual[i]].kind == ValueKind::sequence;
            engine.copy(actual[i], formal, !is_sequence);
            ShapedTensor& t = engine.graph().tensors[formal];
            t.kind = ValueKind::tensor;
            if (elements != sequences.end() && k < elements->second->size()) {
                t.shape = (*elements->second)[k].shape;
                t.type = (*elements->second)[k].type;
                t.known = true;
            }
        }
        engine.link(inner, node, actual, formals);
        engine.run(inner);
        for (std::size_t i = 0; i < body.outputs.size(); ++i) {
            const TensorId id = inner.bound(body.outputs[i]);
            if (id == kNoTensor)
                malformed("an output of the body has no name");
            sources.push_back(id);
            const ShapedTensor& t = engine.graph().tensors[id];
            outputs[i].push_back({t.type, t.shape, engine.state().values[id]});
        }
    }
    std::vector<TensorId> results;
    for (std::size_t i = 0; i < body.outputs.size(); ++i) {
        const TensorId id = scope.bound(node.outputs, i);
        results.push_back(id);
        if (id == kNoTensor)
            continue;
        ShapedTensor& out = engine.graph().tensors[id];
        out.kind = ValueKind::sequence;
        out.known = true;
        if (!outputs[i].empty()) {
            out.type = outputs[i].front().type;
            out.shape = outputs[i].front().shape;
        }
        if (!uniform)
            sequences[id] = std::make_shared<const SequenceElements>(std::move(outputs[i]));
    }
    engine.link(scope, node, std::move(sources), std::move(results));
    engine.state().scope = &scope;
}

} // namespace archsim
