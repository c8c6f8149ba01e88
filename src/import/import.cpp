#include "archsim/import/import.hpp"

#include "import/byte_source.hpp"
#include "import/external_data.hpp"
#include "import/graph_builder.hpp"
#include "import/wire_filter.hpp"

#include <google/protobuf/arena.h>
#include <optional>

namespace archsim {

namespace {

namespace fs = std::filesystem;

/// Blocks double up to this size. protobuf's own limit of 8 KiB makes thousands of a large graph; blocks
/// above 128 KiB would go back to the kernel, and the next stage would fault in fresh pages.
constexpr std::size_t kLargestArenaBlock = 32u << 10;

[[noreturn]] void fail(const std::string& name, const std::string& message) {
    throw InputError(Finding{.kind = FindingKind::malformed_file,
                             .message = message,
                             .file = name,
                             .mend = "give a complete binary .onnx file"});
}

/// Reads the messages into `model`.
void parse(import::ByteSource& bytes, const std::string& name, onnx::ModelProto& model) {
    if (bytes.size() == 0)
        fail(name, "is empty");
    try {
        const std::string stripped = import::strip_payloads(bytes);
        if (!model.ParseFromString(stripped))
            fail(name, "is not an ONNX model, or is damaged: a message in it cannot be decoded");
    } catch (const import::WireError& error) {
        fail(name, std::string("is not an ONNX model, or is truncated: ") + error.what());
    }
    if (!model.has_graph())
        fail(name, "is not an ONNX model: it has no graph");
}

Graph import_source(import::ByteSource& bytes, const std::string& name, std::optional<fs::path> folder) {
    google::protobuf::ArenaOptions blocks;
    blocks.max_block_size = kLargestArenaBlock;
    google::protobuf::Arena arena(blocks); // messages of a large graph are freed together
    onnx::ModelProto& model = *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
    parse(bytes, name, model);
    import::Findings findings(name);
    import::ExternalData external(std::move(folder), findings);
    Graph graph = import::GraphBuilder(model, external, findings).build();
    graph.findings = findings.take();
    return graph;
}

} // namespace

Graph import_onnx(const fs::path& file) {
    import::ByteSource bytes(file);
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    return import_source(bytes, file.string(), folder);
}

Graph import_onnx(std::span<const std::uint8_t> bytes, const std::string& display_name) {
    import::ByteSource source(bytes);
    return import_source(source, display_name, std::nullopt);
}

} // namespace archsim
