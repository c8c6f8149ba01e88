// local_models: which models of the catalogue run on a machine, and how fast.

#include "answers/local/local_models.hpp"
#include "archsim/core/finding.hpp"
#include "common/progress.hpp"
#include "common/tool.hpp"
#include "core/parse_number.hpp"
#include "machine/this_machine.hpp"
#include "measurements/given_output.hpp"
#include "result/format_parts.hpp"
#include "session/given.hpp"

#include <utility>

using namespace archsim;

constexpr const char* kExamples = R"(  local_models "RTX 4090"
  local_models --on "RTX 4070 laptop, 32GB" --host Core-i7-12700H --min-tokens-per-s 15 --context 16k
  local_models --this-machine --by speed
  local_models Qwen3-8B-Q4_K_M.gguf --on "RTX 3060 12GB"
  local_models --on Jetson-Orin-Nano --kind vision --min-tokens-per-s 30)";

struct LocalOptions {
    bool here = false;
    std::string on, host, context = fmt::format("{}", LocalRequest{}.context), kv_cache, kind = "language",
                          by = "newest", least;
    std::int64_t devices = 1;
    std::vector<std::string> models, formats, overlays, measured;
    LocalView view;

    void add_to(cli::Flags& flags) {
        flags.add_option("models", models, "names or files (.gguf, config.json); default: the catalogue");
        flags.add_flag("--this-machine", here,
                       "the machine at hand: its GPU where it has one that is known, "
                       "with its processor beside it");
        flags.add_option("--on,--hardware", on,
                         "a device, with the memory of its computer: \"RTX 4070 laptop, 32GB\"", "DEVICE");
        flags.exclude("--this-machine", "--on");
        flags.add_option("--host", host,
                         "the processor beside it, which takes layers that do not fit (llama.cpp's -ngl)",
                         "DEVICE");
        flags.add_option("--devices", devices, "cards of the kind, which divide the layers", "N")
            .show_default();
        flags.add_option("--context", context, "positions: a prompt, and 128 tokens of an answer", "N")
            .show_default();
        flags.add_option("--kv-cache", kv_cache,
                         "format of cached keys and values, q8_0 or q4_0 (default: as the stack stores them)",
                         "FORMAT");
        flags.add_option(
            "--formats", formats,
            "of weights, widest first, types of GGUF such as Q3_K_M too (default: bf16 int8 int4; "
            "llama.cpp: BF16, Q8_0, Q4_K_M)",
            "FORMAT");
        flags.add_option(
            "--min-tokens-per-s,--min-speed", least,
            "leave out what is slower (of --kind vision and speech: inferences; default: 10 tokens, "
            "twice as fast as people read; of models that are named 0)",
            "RATE");
        flags.add_option("--kind", kind, "of model").one_of({"language", "vision", "speech"}).show_default();
        flags.add_option("--by", by, "order of the list").one_of({"newest", "size", "speed"}).show_default();
        flags.add_flag("--every-format", view.every_format, "each format that runs, not the widest alone");
        flags.add_option(
            "--measured", measured,
            "what you measured, \"llama-3-8b int4 decode = 130/s\", a file of such lines, or what "
            "llama-bench wrote (repeatable): estimates of the same device and stack follow it",
            "MEASUREMENT");
        flags.add_option("--hardware-db", overlays, "folder(s) or file(s) of devices that take precedence",
                         "FOLDER");
    }

    LocalRequest request(const Session& session) {
        view.by = *value_named<LocalOrder>(by);
        LocalRequest r{.kind = *value_named<LocalKind>(kind)};
        const auto tokens = parse_whole(context);
        if (!tokens)
            throw UsageError(
                fmt::format("--context: expected a number of positions (8192, 16k), got \"{}\"", context));
        r.context = *tokens;
        r.devices = devices;
        if (!kv_cache.empty())
            r.kv_cache = format_named(kv_cache, "--kv-cache");
        if (!formats.empty())
            r.formats = formats;
        if (!least.empty()) {
            const auto rate = parse_real(least);
            if (!rate || !(*rate >= 0))
                throw UsageError(fmt::format("--min-tokens-per-s: expected a rate, got \"{}\"", least));
            r.least_tokens_per_s = *rate;
        }
        // The one name that is given may be the machine's.
        if (!here && on.empty() && models.size() == 1 && names_device(session, models.front()))
            on = std::exchange(models, {}).front();
        for (const std::string& name : models)
            if (session.catalogue().find(name) == nullptr && names_device(session, name))
                throw UsageError(
                    fmt::format("--on takes one machine, and \"{}\" is another: ask for each", name));
        r.models = models;
        r.host = host;
        if (!here && on.empty())
            throw UsageError(
                fmt::format("{}name the machine: --on DEVICE, or --this-machine",
                            models.empty() || finds([&] { session.load(models.front()); })
                                ? ""
                                : "no model and no device is called \"" + models.front() + "\"; "));
        if (here) {
            take_this_machine(session, r);
        } else {
            take_machine(session, on, r);
        }
        return r;
    }

  private:
    template <class LookUp>
    static bool finds(const LookUp& look_up) {
        try {
            look_up();
            return true;
        } catch (const InputError&) {
            return false;
        }
    }
    static bool names_device(const Session& session, std::string_view name) {
        return finds([&] { session.hardware().device(name); });
    }

    void take_this_machine(const Session& session, LocalRequest& r) const {
        const bool known = names_device(session, kThisGpu); // a GPU that the database knows
        r.device = std::string(known ? kThisGpu : kThisMachine);
        if (known && r.host.empty())
            r.host = std::string(kThisMachine);
    }
};

int main(int argc, char** argv) {
    LocalOptions local;
    cli::OutputOptions output;
    const auto setup = [&](cli::Flags& flags) {
        flags.add_document("local_models", schema_of<LocalAnswer, LocalView>);
        local.add_to(flags);
        output.add_order_to(flags);
        output.add_to(flags, "text, markdown, json, csv, html");
    };
    const auto body = [&] {
        SessionOptions options;
        options.hardware_overlays.assign(local.overlays.begin(), local.overlays.end());
        Session session(options);
        const LocalRequest request = local.request(session);
        if (!local.measured.empty())
            session.given(read_measured(
                local.measured, session,
                {.hardware = request.device, .runtime = local_stack(session, request.device)}, "--measured"));
        LocalAnswer answer;
        {
            cli::Progress progress("estimating", output.quiet);
            answer = local_models(session, request,
                                  [&](std::size_t done, std::size_t total) { progress.show(done, total); });
        }
        output.emit_answer(answer, local.view);
        for (const LocalModel& m : answer.models)
            if (m.runs && !m.too_slow)
                return static_cast<int>(cli::Exit::ok);
        return static_cast<int>(cli::Exit::nothing);
    };
    return cli::run_tool(argc, argv, "local_models",
                         "Lists what runs on a machine, and how fast, by estimate.", kExamples, setup, body);
}
