#include "web/desk.hpp"

#include "archsim/core/finding.hpp"
#include "web/answers.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <new>

namespace archsim::web {

/// Models kept: what a reader goes back and forth between.
constexpr std::size_t kKept = 4;

struct Kind {
    std::string_view name;
    Json (*answer)(const Session& session, const Question& question);
    bool needs_model = true;
};
constexpr std::array kKinds = {
    Kind{"catalogue", answer_catalogue, false},
    Kind{"files", answer_files, false},
    Kind{"names", answer_names, false},
    Kind{"model", answer_model},
    Kind{"rank", answer_rank},
    Kind{"device", answer_device},
    Kind{"trace", answer_trace},
    Kind{"local", answer_local, false},
    Kind{"explain", answer_explain},
    Kind{"change", answer_change},
    Kind{"serve", answer_serve},
    Kind{"size", answer_size},
    Kind{"cost", answer_cost},
    Kind{"export", answer_export},
};

static Json error(std::string_view kind, std::string_view message) {
    return {{"error", {{"kind", kind}, {"message", message}}}};
}

static std::string_view kind_of(const Error& problem) {
    if (dynamic_cast<const UsageError*>(&problem) != nullptr)
        return "usage";
    return dynamic_cast<const IncompleteError*>(&problem) != nullptr ? "incomplete" : "input";
}

/// Names in a model may be no UTF-8; what is not becomes U+FFFD.
static std::string written(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Desk::answer(std::string_view json) {
    try {
        Question question = read_question(json);
        for (const Kind& kind : kKinds)
            if (kind.name == question.ask) {
                if (kind.needs_model)
                    question.workload.model = model(question.model);
                return written(kind.answer(session_, question));
            }
        throw UsageError(fmt::format("\"{}\" cannot be asked", question.ask));
    } catch (const Error& problem) {
        return written(error(kind_of(problem), problem.what()));
    } catch (const std::bad_alloc&) {
        return written(error("input", "there is not enough memory"));
    } catch (const std::exception& problem) {
        return written(error("fault", problem.what()));
    }
}

Model Desk::model(const std::string& name) {
    const auto found = std::ranges::find_if(models_, [&](const auto& entry) { return entry.first == name; });
    if (found != models_.end()) {
        models_.splice(models_.begin(), models_, found);
    } else {
        models_.emplace_front(name, session_.load(name));
        if (models_.size() > kKept)
            models_.pop_back();
    }
    return models_.front().second;
}

Json sections(const Report& report, const std::string& name) {
    Json list = Json::array();
    std::string title;
    std::vector<Block> blocks;
    const auto close = [&] {
        if (!blocks.empty())
            list.push_back(
                {{"title", title}, {"html", html_fragment(blocks, fmt::format("{}-{}", name, list.size()))}});
        blocks.clear();
    };
    for (const Block& block : report.blocks) {
        const auto* heading = std::get_if<Heading>(&block);
        if (heading && heading->level <= 2) {
            close();
            title = heading->text;
        } else {
            blocks.push_back(block);
        }
    }
    close();
    return list;
}

} // namespace archsim::web
