// Prints the multiply-accumulates of an ONNX file: consumer FILE [DIM=VALUE...]

#include <archsim/core/version.hpp>
#include <archsim/extend/importer.hpp>
#include <archsim/ops/shaped_graph.hpp>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
    if (argc < 2)
        return 1;
    archsim::Bindings bindings;
    for (int i = 2; i < argc; ++i) {
        const std::string text = argv[i];
        const auto at = text.find('=');
        bindings.dims[text.substr(0, at)] = std::stoll(text.substr(at + 1));
    }
    const archsim::Graph graph = archsim::import_onnx(std::filesystem::path(argv[1]));
    const archsim::ShapedGraph shaped = archsim::bind(graph, bindings);
    std::printf("archsim %s: %.0f MACs\n", std::string(archsim::version()).c_str(), shaped.macs());
    return shaped.complete() ? 0 : 3;
}
