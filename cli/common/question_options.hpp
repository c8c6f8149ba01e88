#pragma once
// The flags of a question: an option for every field, from the table of fields.

#include "archsim/run/session.hpp"
#include "common/flags.hpp"
#include "fields/question.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::cli {

struct AskedFields {
    std::vector<std::string> without = {}; ///< keys of those that it does not; with `only` empty
    std::vector<std::string> only = {};    ///< keys of all that it does; empty: every field with a flag
    std::vector<std::string> several =
        {};              ///< keys of those of which it takes several, each a question of its own
    int most = 64;       ///< values of each of those
    bool grouped = true; ///< under the headings of their rows
    bool duty = false;   ///< how often a device works, too
};

/// Workload and conditions of a tool's questions, and what else decides its session.
struct QuestionOptions {
    std::vector<std::string> overlays; ///< folders of device files
    std::vector<std::string> measured; ///< measurements of the user's own

    /// The options must outlive `flags`.
    void add_to(Flags& flags, const AskedFields& fields = {});
    /// The fields alone.
    void add_fields_to(Flags& flags, const AskedFields& fields = {});
    /// --hardware-db.
    void add_overlays_to(Flags& flags);

    /// The texts given to a field; none where its flag is absent.
    const std::vector<std::string>& given(std::string_view key) const;
    /// The question with, of fields with several values, the one of that index, or the only one. Throws
    /// UsageError naming the flag of a text that cannot be, or of fields that cannot be together.
    Question question(std::size_t index = 0) const;
    /// Its workload and conditions as those of a request.
    template <class Request>
    void put_into(Request& request) const {
        Question asked = question();
        request.workload = std::move(asked.workload);
        request.conditions = std::move(asked.conditions);
    }
    /// Where nobody named a model and the last text of a field that takes several is none of its values, it
    /// is one:
    /// "--precision fp16 resnet50".
    void pass_on(std::string_view key, std::vector<std::string>& models);
    /// Every value of a field of whole numbers, by its row; "auto" is 0, and what a new question has stands
    /// for none.
    std::vector<std::int64_t> numbers(std::string_view key) const;
    /// With the user's own measurements, of `device` where they name none.
    Session open(const std::string& device = {}) const;
    /// The same, of the only one of the devices.
    Session open(const std::vector<std::string>& devices) const {
        return open(devices.size() == 1 ? devices.front() : std::string());
    }
    /// Without them.
    Session opened() const;

  private:
    std::map<std::string, std::vector<std::string>, std::less<>> texts_;
    std::map<std::string, bool> truths_;
    bool pair_ = false; ///< "NAME=8,16" gives a size to each of two questions
    std::size_t most_given() const;
};

} // namespace archsim::cli
