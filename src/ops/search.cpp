// Searches of ONNX Runtime that hold whole networks in their attributes: BeamSearch, WhisperBeamSearch,
// GreedySearch, Sampling. The encoder runs once over the input, the decoder once for every token of the
// answer and every beam (microsoft/onnxruntime, docs/ContribOperators.md). A decoder without an encoder first
// reads the prompt, by `init_decoder` where there is one.

#include "ops/passes.hpp"

#include "ops/common.hpp"

namespace archsim {

/// One network as the search runs it.
struct SearchWalk {
    std::string_view key;
    double runs = 1;          ///< times that it runs
    std::int64_t rows = 1;    ///< sequences side by side
    std::int64_t columns = 1; ///< positions of each
};

class SearchRunner {
  public:
    SearchRunner(BindEngine& engine, const BindScope& scope, const Node& node)
        : engine_(engine), scope_(scope), node_(node) {}

    void run() {
        const TensorId ids = scope_.bound(node_.inputs, 0);
        if (ids == kNoTensor)
            malformed("the input sequence is missing");
        const ShapedTensor first = engine_.graph().tensors[ids];
        if (!first.known)
            return hold_weights();
        if (first.shape.size() < 2)
            malformed("the input sequence needs a batch and positions");
        const std::int64_t batch = first.shape[0], length = first.shape.back();
        const bool searches_beams = node_.op_type.ends_with("BeamSearch");
        const std::int64_t beams = searches_beams ? number(3, "num_beams") : 1;
        const std::int64_t returned = searches_beams ? number(4, "num_return_sequences") : 1;
        const std::int64_t longest = number(1, "max_length");
        const bool encodes = has("encoder");
        const std::int64_t prompt = encodes ? 1 : length;
        const std::int64_t steps = std::max<std::int64_t>(longest - prompt, 0);
        if (encodes)
            walk({.key = "encoder", .rows = batch, .columns = length});
        if (!encodes && steps > 0)
            walk({.key = has("init_decoder") ? "init_decoder" : "decoder",
                  .rows = batch * beams,
                  .columns = length});
        const std::int64_t left = encodes ? steps : steps - 1;
        if (left > 0)
            walk({.key = "decoder", .runs = static_cast<double>(left), .rows = batch * beams});
        set(0, DataType::int32, searches_beams ? Shape{batch, returned, longest} : Shape{batch, longest});
        if (searches_beams)
            set(1, first.type == DataType::float16 ? DataType::float16 : DataType::float32,
                {batch, returned});
        leave();
    }

  private:
    /// The networks without sizes: nothing is counted but what they hold.
    void hold_weights() {
        engine_.note_skipped();
        for (const std::string_view key : {"encoder", "init_decoder", "decoder"}) {
            if (!has(key))
                continue;
            const Graph& body = body_of(node_, key);
            const BindScope inner =
                engine_.open(scope_, body, scope_.prefix + node_.name + ":" + std::string(key) + ":", 0);
            engine_.run(inner);
            keep_results(inner);
        }
        leave();
    }

    void keep_results(const BindScope& inner) {
        const auto made = inner.bound(inner.graph->outputs);
        results_.insert(results_.end(), made.begin(), made.end());
    }

    void leave() {
        engine_.link(scope_, node_, results_, scope_.bound(node_.outputs));
        engine_.state().scope = &scope_;
    }

    bool has(std::string_view key) const { return node_.attribute(key) != nullptr; }

    /// A count that an input gives.
    std::int64_t number(std::size_t i, const std::string& what) {
        const TensorId id = scope_.bound(node_.inputs, i);
        const Constant* value = id == kNoTensor ? nullptr : engine_.state().values[id];
        if (value != nullptr && !value->ints.empty() && value->ints[0] > 0)
            return value->ints[0];
        const std::string name = scope_.prefix + node_.name + "." + what;
        if (const auto given = engine_.state().given_dim(name); given && *given > 0)
            return *given;
        const bool is_input = id != kNoTensor && engine_.graph().tensors[id].role == TensorRole::input;
        throw NodeProblem{FindingKind::unresolved_dimension, "its " + what + " is only known at run time",
                          is_input ? "give it with --input " + engine_.graph().tensors[id].name + "=N"
                                   : "give it with --dim " + name + "=N"};
    }

    /// Binds the inputs of the body: batch and positions are known, other sizes are the user's.
    void walk(const SearchWalk& w) {
        const Graph& body = body_of(node_, w.key);
        BindScope inner =
            engine_.open(scope_, body, scope_.prefix + node_.name + ":" + std::string(w.key) + ":",
                         scope_.repeat * w.runs);
        const auto leading = body.inputs.empty() ? std::nullopt : body.tensors[body.inputs.front()].shape;
        const auto symbol = [&](std::size_t axis) {
            return leading && axis < leading->size() ? (*leading)[axis].symbol : std::string();
        };
        for (const TensorId local : body.inputs) {
            const Tensor& tensor = body.tensors[local];
            ShapedTensor& formal = engine_.graph().tensors[inner.ids[local]];
            formal.type = tensor.type;
            formal.known = tensor.shape.has_value();
            for (std::size_t axis = 0; tensor.shape && axis < tensor.shape->size(); ++axis) {
                const Dimension& d = (*tensor.shape)[axis];
                std::optional<std::int64_t> size =
                    d.value >= 0 ? std::optional(d.value) : engine_.state().given_dim(d.symbol);
                if (!size && (axis == 0 || (!d.symbol.empty() && d.symbol == symbol(0))))
                    size = w.rows;
                if (!size && ((local == body.inputs.front() && axis == 1) ||
                              (!d.symbol.empty() && d.symbol == symbol(1))))
                    size = w.columns;
                if (!size)
                    size = engine_.state().symbol(d.symbol);
                if (!size)
                    ask_for(tensor, axis, d.symbol);
                formal.shape.push_back(size.value_or(0));
                formal.known = formal.known && size.has_value();
            }
            if (formal.known && shape_problem(formal.shape))
                formal.known = false;
        }
        engine_.link(inner, node_, {scope_.bound(node_.inputs, 0)}, inner.bound(body.inputs));
        engine_.run(inner);
        keep_results(inner);
    }

    void ask_for(const Tensor& tensor, std::size_t axis, const std::string& symbol) {
        BindState& state = engine_.state();
        const std::string name = symbol.empty() ? tensor.name + "." + std::to_string(axis) : symbol;
        if (!state.reported.insert("symbol " + name).second)
            return;
        state.scope = &scope_;
        state.report(node_, FindingKind::unresolved_dimension, Severity::error,
                     "dimension '" + name + "' of its network's input '" + tensor.name + "' has no size",
                     size_hint(name, usual_sizes(tensor, axis, name, name).front()));
    }

    void set(std::size_t i, DataType type, Shape shape) {
        const TensorId id = scope_.bound(node_.outputs, i);
        if (id == kNoTensor)
            return;
        require_shape(shape);
        ShapedTensor& out = engine_.graph().tensors[id];
        out.type = type;
        out.shape = std::move(shape);
        out.known = true;
    }

    BindEngine& engine_;
    const BindScope& scope_;
    const Node& node_;
    std::vector<TensorId> results_;
};

void run_search(BindEngine& engine, const BindScope& scope, const Node& node) {
    SearchRunner(engine, scope, node).run();
}

} // namespace archsim
