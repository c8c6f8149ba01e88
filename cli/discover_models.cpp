// discover_models: the catalogue, or what a folder of ONNX files holds and whether each can be used.

#include "answers/models/discover_models.hpp"
#include "common/progress.hpp"
#include "common/tool.hpp"

#include <fmt/ranges.h>

#include <thread>

constexpr const char* kExamples = R"(  discover_models
  discover_models --task image-classification --top 10
  discover_models --family llama --format json
  discover_models ./my_models
  discover_models --names)";

/// The message for a word that no model has, with those that could be meant.
static std::string no_such_model(const archsim::Session& session, const archsim::DiscoverOptions& options) {
    const bool narrowed = !options.task.empty() || !options.family.empty();
    const auto nearest = narrowed ? std::vector<std::string>() : session.catalogue().nearest(options.word);
    return fmt::format("no model{} has \"{}\" in its name; {}", narrowed ? " of that task and family" : "",
                       options.word,
                       nearest.empty() ? "without a word all are listed"
                                       : fmt::format("nearest: {}", fmt::join(nearest, ", ")));
}

int main(int argc, char** argv) {
    using namespace archsim;
    std::string folder;
    DiscoverOptions options;
    cli::OutputOptions output;
    bool names = false;
    std::size_t top = 0;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("discover_models", schema_of<ModelList, ModelListView>);
        flags.add_option("folder", folder,
                         "folder of models to scan instead of the catalogue, or a word that names have",
                         "FOLDER");
        flags.add_option("--task", options.task, "only catalogue models of this task", "TASK");
        flags.add_option("--family", options.family, "only catalogue models of this family", "FAMILY");
        flags.add_option("--batch-size", options.batch, "items per inference", "N")
            .within(1, 1 << 20)
            .show_default();
        flags.add_top(top, "only the first N by --sort, or the N with the most work; 0: all");
        flags.add_option("--sort", output.sort,
                         "column that orders the list: numbers largest first, texts by letter", "COLUMN");
        flags.add_flag("--names", names, "names of the catalogue only, one per line");
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        const Session session({.estimates = false});
        if (names) {
            std::string lines;
            for (const CatalogueEntry& entry : session.catalogue().entries())
                lines += entry.name + "\n";
            output.emit(lines);
            return 0;
        }
        ModelList list;
        {
            cli::Progress progress("importing", output.quiet);
            options.threads = std::max(1U, std::thread::hardware_concurrency());
            options.progress = [&](std::size_t done, std::size_t total) { progress.show(done, total); };
            const bool scan = folder.find('/') != folder.npos || std::filesystem::exists(folder);
            options.word = scan ? "" : folder;
            list = scan ? discover_folder(session, folder, options) : discover_catalogue(session, options);
        }
        if (list.models.empty() && !options.word.empty())
            throw InputError(no_such_model(session, options));
        if (output.sort.empty())
            keep_largest(list, top);
        else
            output.top = top;
        output.emit_answer(list, ModelListView{.findings = !output.quiet});
        return static_cast<int>(list.models.empty() ? cli::Exit::nothing : cli::Exit::ok);
    };
    return cli::run_tool(argc, argv, "discover_models", "Lists the models that can be estimated.", kExamples,
                         setup, body);
}
