// A custom operator: one row says how its shapes follow, what work it is and how it may fuse.
//
// own_operator FILE.onnx binds a file that holds `com.example.SquaredRelu`, which the library does not know.

#include <archsim/archsim.hpp>
#include <archsim/extend/operator.hpp>

#include <cstdio>
#include <memory>

namespace {

using namespace archsim;

/// y = max(x, 0)^2: the output looks like the input.
void infer_squared_relu(NodeContext& node) {
    node.set_output(0, node.type(0), node.shape(0));
}

void work_squared_relu(NodeContext& node) {
    node.work().vector_ops = 2 * node.elements(0); // one maximum, one multiplication
}

constexpr OperatorRow kSquaredRelu{.name = "SquaredRelu",
                                   .domain = "com.example",
                                   .infer = infer_squared_relu,
                                   .work = work_squared_relu,
                                   .kind = OpKind::elementwise,
                                   .fusion = FusionClass::elementwise,
                                   .doc = "max(x, 0) squared"};

} // namespace

int main(int argc, char** argv) try {
    if (argc < 2) {
        std::fprintf(stderr, "usage: own_operator FILE.onnx\n");
        return 1;
    }
    auto operators = std::make_shared<OperatorRegistry>(OperatorRegistry::standard());
    operators->add(kSquaredRelu);
    SessionOptions options;
    options.operators = operators;
    const Session session(options);
    const Workload workload{.model = session.load(argv[1])};
    const Result result = session.estimate(workload, "H100");
    if (!result.ok()) {
        std::fprintf(stderr, "%s\n", result.estimate.reason.c_str());
        return 3;
    }
    std::printf("%.0f operations in %zu fused subgraph(s)\n", result.model->operations,
                result.partition->subgraphs.size());
} catch (const archsim::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
