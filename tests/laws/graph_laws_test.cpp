// Laws of counting over every network of the catalogue that is a file: they hold whatever a model is.

#include "answers/profile/graph_profile.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "archsim/run/session.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

/// Names of networks that lie in files and have a batch.
std::vector<std::string> networks() {
    std::vector<std::string> names;
    for (const CatalogueEntry& entry : shipped_session().catalogue().entries())
        if (entry.file.string().ends_with(".onnx") && entry.parts.empty())
            names.push_back(entry.name);
    return names;
}

} // namespace

TEST_CASE("a batch multiplies the work, or a finding says that it does not", "[laws][import]") {
    std::size_t said = 0;
    const auto names = networks();
    for (const std::string& name : names) {
        CAPTURE(name);
        const Model model = shipped_session().load(name);
        const ModelFacts one = *shipped_session().facts({.model = model}),
                         four = *shipped_session().facts({.model = model, .batch = 4});
        const bool warned = std::any_of(four.findings.begin(), four.findings.end(), [](const Finding& f) {
            return f.message.find("times the work of one item") != std::string::npos;
        });
        CHECK((four.macs == Approx(4 * one.macs).epsilon(2e-3) || warned || one.macs == 0));
        said += warned ? 1 : 0;
    }
    CHECK(said * 10 < names.size());
}

TEST_CASE("the profile and the estimate hold the same bytes of weights", "[laws][import]") {
    std::vector<std::string> names = networks();
    names.emplace_back("qwen3.5-27b"); // with a tower of images that no operator reads
    for (const std::string& name : names) {
        const Model model = shipped_session().load(name);
        const ModelFacts facts = *shipped_session().facts({.model = model});
        const GraphProfile profile = profile_graph(name, facts.graph);
        double stored = 0;
        for (const ShapedTensor& tensor : facts.graph->tensors)
            if (tensor.role == TensorRole::initializer && tensor.known)
                stored += tensor.elements() * tensor.stored_bits() / 8;
        CAPTURE(name);
        CHECK(profile.stored_weight_bytes <= stored * (1 + 1e-9));
        CHECK(profile.stored_weight_bytes >= stored * 0.98);
        CHECK(profile.totals.parameters <= profile.stored_weight_bytes * 2); // at least four bits each
    }
}
