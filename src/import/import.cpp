#include "archsim/extend/importer.hpp"

#include "import/graph_builder.hpp"
#include "import/message_reader.hpp"

#include <protozero/exception.hpp>

namespace archsim {

namespace fs = std::filesystem;

[[noreturn]] static void fail(const std::string& name, const std::string& message) {
    throw InputError(Finding{.kind = FindingKind::malformed_file,
                             .message = message,
                             .file = name,
                             .hint = "give a complete binary .onnx file"});
}

static Graph import_source(import::ByteSource& bytes, const std::string& name, std::optional<fs::path> folder,
                           const Budget& budget) {
    if (bytes.size() == 0)
        fail(name, "is empty");
    try {
        import::Arena arena;
        const import::ModelMessage model = import::MessageReader(bytes, arena).read();
        if (!model.graph)
            fail(name, "is not an ONNX model: it has no graph");
        import::Findings findings(name);
        Spending spending(budget, name);
        import::ExternalData external(std::move(folder), findings);
        Graph graph = import::GraphBuilder(model, external, findings, spending).build();
        graph.findings = findings.take();
        return graph;
    } catch (const import::WireError& error) {
        fail(name, std::string("is not an ONNX model, or is truncated: ") + error.what());
    } catch (const protozero::exception&) {
        fail(name, "is not an ONNX model, or is damaged: the type of a value cannot be decoded");
    }
}

Graph import_onnx(const fs::path& file, const Budget& budget) {
    import::ByteSource bytes(file, budget.bytes);
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    return import_source(bytes, file.string(), folder, budget);
}

Graph import_onnx(std::span<const std::uint8_t> bytes, const std::string& display_name,
                  const Budget& budget) {
    import::ByteSource source(bytes);
    return import_source(source, display_name, std::nullopt, budget);
}

} // namespace archsim
