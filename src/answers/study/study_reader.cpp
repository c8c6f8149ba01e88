// A study file, JSON or YAML -> StudyRequest, with every mistake as a finding.

#include "answers/study/study.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "fields/question_json.hpp"
#include "hardware/json_reader.hpp"
#include "result/format_parts.hpp"

namespace archsim {

namespace fs = std::filesystem;

/// Name of the device's own choice of software stack.
constexpr std::string_view kDefaultRuntime = "default";
constexpr Bounds kBatchSizes{1, 1 << 20};
constexpr Bounds kDimensions{0, 1e9};

class StudyReader {
  public:
    StudyReader(const Session& session, const fs::path& file)
        : session_(session), folder_(file.parent_path()) {
        context_.file = file.string();
        context_.unsourced = std::make_shared<const Source>();
        study_.file = file.string();
    }

    StudyRequest read(const JsonValue& document) {
        ObjectReader top(context_, document, JsonPlace{});
        top.text("$schema");
        study_.title = top.text("title");
        study_.description = top.text("description");
        study_.models = names(top, "models", [&](const std::string& name) { return model(name); });
        study_.devices = names(top, "devices", [&](const std::string& name) { return device(name); });
        for (const std::string& deployment :
             names(top, "deployments", [&](const std::string& name) { return known_deployment(name); }))
            append(study_.devices, session_.hardware().deployment(deployment).hardware);
        replace(study_.stacks,
                names(top, "runtimes", [&](const std::string& name) { return runtime(name); }));
        replace(study_.precisions,
                names(top, "precisions", [&](const std::string& name) { return precision(name); }));
        batch_sizes(top);
        fields(top);
        if (!top.has("models"))
            top.missing("models", R"(add "models": ["resnet50"])");
        if (!top.has("devices") && !top.has("deployments"))
            top.missing("devices", R"(add "devices": ["H100"], or "deployments": ["edge"])");
        top.finish();
        return std::move(study_);
    }

    std::vector<Finding> take_findings() { return std::move(context_.findings); }

  private:
    /// The meaning of a name, or why it cannot be used and what to write instead.
    struct Checked {
        std::string name, problem, hint;
    };

    void report(FindingKind kind, const JsonPlace& place, std::string message, std::string hint) {
        context_.report(kind, Severity::error, place, std::move(message), std::move(hint));
    }

    static void replace(std::vector<std::string>& standard, std::vector<std::string> given) {
        if (!given.empty())
            standard = std::move(given);
    }

    /// The texts under `key`; none may be empty, stand twice or fail `check`.
    template <class Check>
    std::vector<std::string> names(ObjectReader& top, std::string_view key, Check check) {
        std::vector<std::string> result;
        const JsonValue* list = top.member(key);
        if (list == nullptr)
            return result;
        const auto items = list->items();
        const JsonPlace place = top.place_of(key);
        if (items.empty()) {
            report(FindingKind::malformed_file, place, "this must be an array of at least one text",
                   fmt::format(R"(write "{}": ["..."])", key));
            return result;
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            const JsonPlace item{&place, {}, i, true};
            if (!items[i].is_text()) {
                report(FindingKind::malformed_file, item, fmt::format("{} is not a text", items[i].dump()),
                       "put it between quotes");
                continue;
            }
            Checked checked = check(std::string(items[i].text()));
            if (!checked.problem.empty())
                report(FindingKind::unknown_name, item, std::move(checked.problem), std::move(checked.hint));
            else if (contains(result, checked.name))
                report(FindingKind::duplicate, item, fmt::format("\"{}\" is listed twice", checked.name),
                       "remove one of them");
            else
                result.push_back(std::move(checked.name));
        }
        return result;
    }

    /// A path that exists beside the study is meant from there.
    std::string beside(const std::string& name) const {
        const fs::path path(name);
        std::error_code error;
        return path.is_relative() && fs::is_regular_file(folder_ / path, error) ? (folder_ / path).string()
                                                                                : name;
    }

    Checked model(const std::string& name) const {
        std::error_code error;
        if (session_.catalogue().find(name) != nullptr)
            return {name, {}, {}};
        const std::string path = beside(name);
        if (fs::is_regular_file(path, error))
            return {path, {}, {}};
        const auto near = session_.catalogue().nearest(name);
        return {{},
                fmt::format("no model is called \"{}\"", name),
                (near.empty() ? "" : fmt::format("is {} meant? ", either_of(near))) +
                    "a path must name an .onnx file"};
    }

    /// Only a name that does not exist is a mistake of the study: what is wrong with the device itself fails
    /// its own cells.
    Checked device(const std::string& name) const {
        const std::string path = name.ends_with(".json") ? beside(name) : name;
        try {
            session_.hardware().device(path);
        } catch (const InputError& problem) {
            const auto& found = problem.findings();
            const bool no_such = found.size() == 1 && (found[0].kind == FindingKind::unknown_name ||
                                                       found[0].kind == FindingKind::unreadable_file);
            if (no_such)
                return {{},
                        found[0].file.empty() ? found[0].message
                                              : fmt::format("{}: {}", found[0].file, found[0].message),
                        found[0].hint};
        }
        return {path, {}, {}};
    }

    template <class Find>
    static Checked found_by(const std::string& name, Find find) {
        try {
            find();
            return {name, {}, {}};
        } catch (const InputError& problem) {
            const bool worded = problem.findings().size() == 1;
            return {{},
                    worded ? problem.findings()[0].message : problem.what(),
                    worded ? problem.findings()[0].hint : std::string("fix that file first")};
        }
    }

    Checked known_deployment(const std::string& name) const {
        return found_by(name, [&] { session_.hardware().deployment(name); });
    }

    Checked runtime(const std::string& name) const {
        if (name == kDefaultRuntime)
            return {};
        return found_by(name, [&] { session_.hardware().runtime(name); });
    }

    static Checked precision(const std::string& name) {
        try {
            Conditions conditions;
            ask_precision(conditions, name);
            return {name, {}, {}};
        } catch (const UsageError&) {
            return {{},
                    fmt::format("\"{}\" is not a numeric format", name),
                    "use fp32, tf32, bf16, fp16, fp8, int8, int4, w8a16, w4a16 or usual"};
        }
    }

    std::optional<std::int64_t> whole_number(const JsonValue& value, const JsonPlace& place, Bounds bounds) {
        if (value.is_whole()) {
            const double number = value.number();
            if (number >= bounds.low && number <= bounds.high)
                return static_cast<std::int64_t>(number); // exact: all bounds are below 2^53
        }
        if (value.is_text()) // "8k"; a plain number stands without quotes
            if (const auto number = scaled_number(value.text()); number &&
                                                                 static_cast<double>(*number) >= bounds.low &&
                                                                 static_cast<double>(*number) <= bounds.high)
                return number;
        report(FindingKind::out_of_range, place, fmt::format("{} cannot be used here", value.dump()),
               fmt::format("write a whole number from {:.0f} to {:.0f}", bounds.low, bounds.high));
        return std::nullopt;
    }

    std::optional<std::int64_t> whole(ObjectReader& top, std::string_view key, Bounds bounds) {
        const JsonValue* value = top.member(key);
        return value == nullptr ? std::nullopt : whole_number(*value, top.place_of(key), bounds);
    }

    void batch_sizes(ObjectReader& top) {
        const JsonValue* list = top.member("batch_sizes");
        if (list == nullptr)
            return;
        const auto items = list->items();
        const JsonPlace place = top.place_of("batch_sizes");
        if (items.empty())
            return report(FindingKind::malformed_file, place, "this must be an array of at least one number",
                          R"(write "batch_sizes": [1, 8])");
        study_.batch_sizes.clear();
        for (std::size_t i = 0; i < items.size(); ++i)
            if (const auto size = whole_number(items[i], JsonPlace{&place, {}, i, true}, kBatchSizes))
                study_.batch_sizes.push_back(*size);
    }

    /// The question asked of every cell: the fields of a question but those that are lists of their own.
    void fields(ObjectReader& top) {
        QuestionTexts texts(Spelling::key);
        for (const QuestionField& field : question_fields())
            if (field.key == "dims")
                dims(top, texts);
            else if (field.key != "batch_size" && field.key != "precision" && field.key != "runtime")
                give(field, field.key == "devices" ? std::string_view("device_count") : field.key, top,
                     texts);
        if (!context_.findings.empty())
            return;
        try {
            Question question = texts.question();
            study_.workload = std::move(question.workload);
            study_.conditions = std::move(question.conditions);
        } catch (const UsageError& problem) {
            report(FindingKind::out_of_range, JsonPlace{}, problem.what(), "change one of them");
        }
    }

    /// `key` outlives `top`, which remembers what was asked of it.
    void give(const QuestionField& field, std::string_view key, ObjectReader& top, QuestionTexts& texts) {
        const JsonValue* value = top.member(key);
        if (value == nullptr)
            return;
        const JsonPlace place = top.place_of(key);
        try {
            for (const std::string& text :
                 texts_of_json(field, nlohmann::ordered_json::parse(value->dump()), "the value"))
                texts.give(field, text, std::string(key));
        } catch (const UsageError& problem) {
            report(field.choices.empty() ? FindingKind::out_of_range : FindingKind::unknown_name, place,
                   problem.what(), field.choices.empty() ? field.help : "use " + either_of(field.choices));
        }
    }

    void dims(ObjectReader& top, QuestionTexts& texts) {
        top.object("dims", [&](ObjectReader& table) {
            table.members([&](std::string_view name, const JsonPlace&) {
                if (const auto size = whole(table, name, kDimensions))
                    texts.give("dims", fmt::format("{}={}", name, *size));
            });
        });
    }

    const Session& session_;
    fs::path folder_;
    ReadContext context_;
    StudyRequest study_;
};

[[noreturn]] static void unusable(std::vector<Finding> findings) {
    if (findings.size() == 1)
        throw InputError(findings.front());
    std::string message = fmt::format("{} mistakes", findings.size());
    constexpr std::size_t kShown = 20; // more of them are no help
    for (std::size_t i = 0; i < std::min(kShown, findings.size()); ++i)
        message += "\n  " + to_string(findings[i]);
    if (findings.size() > kShown)
        message += fmt::format("\n  and {} more", findings.size() - kShown);
    throw InputError(message, std::move(findings));
}

StudyRequest read_study(const Session& session, const fs::path& file) {
    std::vector<Finding> findings;
    const auto read = [&](const JsonDocument& document) {
        StudyReader reader(session, file);
        StudyRequest study = reader.read(document.root);
        findings = reader.take_findings();
        return study;
    };
    StudyRequest study;
    if (is_yaml_file(file.string())) {
        if (const auto document = parse_yaml_file(file.string(), findings)) {
            study = read(read_json(document->value.dump()));
            for (Finding& finding : findings)
                finding.where = fmt::format("{} ({})", document->place_of(finding.where), finding.where);
        }
    } else if (const auto document = parse_document(file.string(), findings)) {
        study = read(*document);
    }
    if (!findings.empty())
        unusable(std::move(findings));
    return study;
}

} // namespace archsim
