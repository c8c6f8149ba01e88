#include "session/loading.hpp"

#include "checkpoint/diffusion.hpp"
#include "session/prepared.hpp"
#include "session/usual_precision.hpp"

namespace archsim {

Model load_pipeline(const std::filesystem::path& path, CatalogueEntry info,
                    const std::shared_ptr<const OperatorRegistry>& operators, const Budget& budget,
                    std::string_view only) {
    DiffusionPipeline pipeline = read_diffusion_pipeline(path, false, only);
    Model model;
    info.dims.merge(pipeline.dims);
    for (DiffusionPart& read : pipeline.parts) {
        Model part;
        part.info.name = info.name + "#" + read.name;
        part.info.title = info.title + ", " + read.name;
        part.info.source = info.source;
        part.info.dims = info.dims;
        part.budget = budget;
        read.graph.name = part.info.name;
        for (Tensor& tensor : read.graph.tensors) // parts share no weights, whatever they call them
            if (tensor.role == TensorRole::initializer)
                tensor.name.insert(0, read.name + ".");
        part.graph = std::make_shared<const Graph>(std::move(read.graph));
        part.info.format = format_of_file(*part.graph);
        part.prepared = std::make_shared<PreparedWorkloads>(operators);
        if (!info.format)
            info.format = part.info.format;
        info.parts.push_back({read.name, part.info.name, read.share, {}, std::move(read.times)});
        model.parts.push_back(std::move(part));
    }
    model.prepared = std::make_shared<PreparedWorkloads>(operators);
    model.budget = budget;
    model.info = std::move(info);
    return model;
}

} // namespace archsim
