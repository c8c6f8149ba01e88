// profile_graph: what a network computes and moves, on no hardware in particular.

#include "answers/profile/graph_profile.hpp"
#include "archsim/run/session.hpp"
#include "common/answer_options.hpp"
#include "core/lists.hpp"
#include "session/bound_model.hpp"

constexpr const char* kExamples = R"(  profile_graph resnet50
  profile_graph bert-base --dim sequence=384 --depth 4 --top 20 --order bytes
  profile_graph ./my_model.onnx --input-shape images=1,3,640,640 --tensors
  profile_graph vit_b_16 --batch-size 8 --format json --output vit.json
  profile_graph --list-operators)";

struct GraphSizes {
    archsim::cli::QuestionOptions question; ///< of which only the sizes are asked for
    bool allow_unknown = false;

    void add_to(archsim::cli::Flags& flags) {
        question.add_fields_to(flags,
                               {.only = {"batch_size", "dims", "inputs", "input_shapes"}, .grouped = false});
        flags.add_flag("--allow-unknown", allow_unknown, "print totals although they miss a part, marked");
    }
};

int main(int argc, char** argv) {
    using namespace archsim;
    std::string name;
    std::string order{name_of(ProfileOrder::operations)};
    GraphSizes sizes;
    cli::ModelOption model;
    cli::OutputOptions output;
    GraphProfileView view;
    bool list_operators = false;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("profile_graph", schema_of<GraphProfile, GraphProfileView>);
        flags.add_document("operators", [] { return document_of(OperatorRegistry::standard()).schema(); });
        constexpr auto& kOrders = NamesOf<ProfileOrder>::all;
        model.add_to(flags);
        flags.add_flag("--list-operators", list_operators, "the operators that can be read, without a model");
        sizes.add_to(flags);
        flags.add_option("--top", view.top, "operators to list; 0: all").show_default();
        flags.add_option("--sort,--order", order, "order of the operators")
            .one_of({kOrders.begin(), kOrders.end()})
            .show_default();
        flags.add_option("--depth", view.depth, "levels of the module tree; 0: none").show_default();
        flags.add_flag("--tensors", view.tensors, "list the shape of every tensor");
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        view.order = *value_named<ProfileOrder>(order);
        view.allow_unknown = sizes.allow_unknown;
        if (list_operators) {
            output.emit_answer(OperatorRegistry::standard());
            return 0;
        }
        name = model.taken("profile_graph");
        SessionOptions options{.estimates = false};
        options.budget = cli::allowed_budget();
        const Session session(options);
        const Workload asked = sizes.question.question().workload;
        const auto bound = session.bind(session.load(name), asked.batch, asked.sizes);
        GraphProfile profile = profile_graph(bound->facts()->name, bound->facts()->graph);
        profile.asked = asked;
        output.emit_answer(profile, view);
        return static_cast<int>(profile.complete ? cli::Exit::ok : cli::Exit::incomplete);
    };
    return cli::run_tool(argc, argv, "profile_graph",
                         "Profiles a neural network, on no hardware in particular.", kExamples, setup, body);
}
