#pragma once
// Options for the fields of a request to a server, from the table of fields: serve_model, size_service.

#include "common/flags.hpp"
#include "common/question_options.hpp"
#include "fields/serving_fields.hpp"
#include "measurements/tool_output.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::cli {

/// Which of the fields a tool takes, and what they are there.
struct ServingSelection {
    std::vector<std::string_view> without = {}; ///< by key; of an alias by its flag
    /// Texts of fields that are not given, where they are others than those of the table.
    std::map<std::string, std::string> usual = {};
    /// What help says of fields whose usual value the tool finds by itself.
    std::map<std::string, std::string> found = {};
};

class ServingOptions {
  public:
    void add_to(Flags& flags, ServingSelection selection = {});
    /// The texts that were given, and those that are usual for the tool.
    ServingTexts given(const Flags& flags) const;

  private:
    bool takes(const ServingField& field) const;
    bool left_out(std::string_view name) const;

    ServingSelection selection_;
    std::map<std::string, std::string> texts_;
    std::map<std::string, bool> truths_;
};

/// --from: what a client wrote that measured the server of the question; as --measured.
void add_client_output(Flags& flags, std::vector<std::string>& files);
/// What such an output does not say: the only device, the model, how many devices share it (0: not said).
MeasuredContext measured_context(const std::string& model, const std::vector<std::string>& hardware,
                                 double devices);

/// The question's session with what the user measured, in words, in files of them or as tools wrote it.
Session open_measured(const QuestionOptions& question, const std::vector<std::string>& outputs,
                      MeasuredContext context);

/// "500ms", "0.5s", "40 ms" in seconds; 0 for nothing. Throws UsageError that names the flag.
double time_given(const std::string& text, std::string_view flag);

} // namespace archsim::cli
