#pragma once
// The request to a server beside the question: its load and its engine, a row for each field. serve_model's
// flags, Python's keywords and C's fields are these rows.

#include "archsim/run/serve.hpp"
#include "fields/question.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace archsim {

using ServingField = Field<ServingRequest>;

/// Every field, in the order of the tools' help.
const FieldTable<ServingRequest>& serving_fields();
/// The field of that key, alias or flag; null where there is none.
const ServingField* find_serving_field(std::string_view name);

/// Limits on waiting, of which a server's highest rate is found: ttft_p99, tpot_p99, e2e_p99.
const FieldTable<ServiceLevel>& level_fields();

/// The texts that somebody gave for them.
class LevelTexts : public FieldTexts<ServiceLevel> {
  public:
    explicit LevelTexts(Spelling spelling) : FieldTexts(level_fields(), "a limit on waiting", spelling) {}
    ServiceLevel level() const {
        ServiceLevel level;
        put_into(level);
        return level;
    }
};

/// The texts that somebody gave for fields of a request to a server.
/// @code
/// ServingTexts texts(Spelling::key);
/// texts.give("rate", "2");
/// texts.give("prompt_tokens", "2k");
/// texts.give("arrivals", "constant");
/// assert(texts.request().load.prompt_tokens == 2000);
/// @endcode
class ServingTexts : public FieldTexts<ServingRequest> {
  public:
    /// `spelling`: how messages name fields.
    explicit ServingTexts(Spelling spelling);
    /// Names of the fields that a question without a server does not have, as given.
    std::vector<std::string> of_servers_alone() const;
    /// The request they make of what is usual. Throws UsageError for fields that cannot be together,
    /// InputError for a file that cannot be read.
    ServingRequest request(ServingRequest usual = {}) const;

  private:
    void check(const ServingRequest& request) const;
};

} // namespace archsim
