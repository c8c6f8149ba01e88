#pragma once
// Options for the fields of a table: those of a request to a server, of a sizing.

#include "common/flags.hpp"
#include "common/question_options.hpp"
#include "core/lists.hpp"
#include "fields/serving_fields.hpp"
#include "measurements/tool_output.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::cli {

/// Which of the fields a tool takes, and what they are there.
template <class Asked>
struct FieldSelection {
    std::vector<std::string_view> without = {}; ///< by key; of an alias by its flag
    /// The request where nothing is given, if it is not a new one.
    std::optional<Asked> usual = {};
    /// Help's words for fields whose usual value the tool finds by itself.
    std::map<std::string, std::string> found = {};
};

/// An option for each field of a table.
template <class Asked>
class FieldOptions {
  public:
    explicit FieldOptions(const FieldTable<Asked>& table) : table_(&table) {}

    void add_to(Flags& flags, FieldSelection<Asked> selection = {}) {
        selection_ = std::move(selection);
        for (const Field<Asked>& field : *table_) {
            if (left_out(field.key))
                continue;
            const std::string fallback = fallback_of(field);
            const std::string help = field.help + (fallback.empty() ? "" : " (default: " + fallback + ")");
            std::string names = field.flag;
            for (const std::string& alias : field.aliases)
                if (alias.starts_with("--") && !left_out(alias))
                    names += "," + alias;
            Option option = field.kind == FieldKind::truth ? flags.add_flag(names, truths_[field.key], help)
                                                           : flags.add_option(names, texts_[field.key], help);
            if (!field.group.empty())
                option.in_group(field.group);
            if (!field.choices.empty())
                option.one_of(field.choices);
            else if (!field.value.empty())
                option.value_named(field.value);
            if (field.kind == FieldKind::whole || field.kind == FieldKind::real)
                option.number();
        }
    }

    /// The texts that were given.
    template <class Texts>
    Texts given(const Flags& flags) const {
        Texts given(Spelling::flag);
        for (const Field<Asked>& field : *table_)
            if (left_out(field.key))
                continue;
            else if (field.kind == FieldKind::truth ? truths_.at(field.key) : flags.has(field.flag))
                given.give(field.flag, field.kind == FieldKind::truth ? "true" : texts_.at(field.key));
        return given;
    }

  private:
    bool left_out(std::string_view name) const { return contains(selection_.without, name); }
    std::string fallback_of(const Field<Asked>& field) const {
        if (const auto found = selection_.found.find(field.key); found != selection_.found.end())
            return found->second;
        const auto usual = selection_.usual ? field.print(*selection_.usual) : std::vector<std::string>{};
        return usual.empty() ? field.fallback : usual.front();
    }

    const FieldTable<Asked>* table_;
    FieldSelection<Asked> selection_;
    std::map<std::string, std::string> texts_;
    std::map<std::string, bool> truths_;
};

/// --from: what a client wrote that measured the server of the question; as --measured.
void add_client_output(Flags& flags, std::vector<std::string>& files);
/// Facts that such an output leaves out: the only device, the model, how many devices share it (0: not said).
MeasuredContext measured_context(const std::string& model, const std::vector<std::string>& hardware,
                                 double devices);

/// The question's session with what the user measured, in words, in files of them or as tools wrote it.
Session open_measured(const QuestionOptions& question, const std::vector<std::string>& outputs,
                      MeasuredContext context);

} // namespace archsim::cli
