#pragma once
// What is asked of a server beside the question: its load and its engine, a row for each field. serve_model's
// flags, Python's keywords and C's fields are these rows.

#include "archsim/core/export.hpp"
#include "archsim/run/serve.hpp"
#include "fields/question.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// One field of a request to a server; members as those of QuestionField.
struct ServingField {
    std::string key;
    std::vector<std::string> aliases = {};
    std::string flag = {};
    FieldKind kind = FieldKind::text;
    std::string help = {};
    std::string value = {};
    std::string fallback = {};
    std::string group = {};
    std::vector<std::string> choices = {};
    /// The text that a request has there; none: what a new one has, or a file's content, whose name it does
    /// not keep.
    std::function<std::vector<std::string>(const ServingRequest&)> print = {};
    /// Puts a text there. Throws UsageError that names the field as `name`.
    std::function<void(const std::string& text, const std::string& name, ServingRequest&)> parse = {};

    /// Its flag or its key.
    const std::string& spelled(Spelling spelling) const { return spelling == Spelling::flag ? flag : key; }
};

/// Every field, in the order of the tools' help.
ARCHSIM_API const std::vector<ServingField>& serving_fields();
/// The field of that key, alias or flag; null where there is none.
ARCHSIM_API const ServingField* find_serving_field(std::string_view name);

/// The texts that somebody gave for fields of a request to a server.
/// @code
/// ServingTexts texts(Spelling::key);
/// texts.give("rate", "2");
/// texts.give("prompt_tokens", "2k");
/// texts.give("arrivals", "constant");
/// assert(texts.request().load.prompt_tokens == 2000);
/// @endcode
class ARCHSIM_API ServingTexts {
  public:
    /// `spelling`: how messages name fields.
    explicit ServingTexts(Spelling spelling) : spelling_(spelling) {}

    /// Gives a text to the field of that key, alias or flag, in place of an earlier one. Throws UsageError
    /// for a name or a text that cannot be, and leaves the texts as they were.
    void give(std::string_view name, std::string_view text);
    /// Whether a text was given.
    bool has(std::string_view name) const;
    /// Names of the fields that a question without a server does not have, as given.
    std::vector<std::string> of_servers_alone() const;
    /// The request they make. Throws UsageError for fields that cannot be together, InputError for a file
    /// that cannot be read.
    ServingRequest request() const;

  private:
    std::string named(std::string_view key) const;
    void check(const ServingRequest& request) const;

    Spelling spelling_;
    std::map<const ServingField*, std::string> given_;
};

} // namespace archsim
