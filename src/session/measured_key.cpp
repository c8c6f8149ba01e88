#include "session/given.hpp"

#include "core/digest.hpp"
#include "core/embedded_files.hpp"
#include "core/text_file.hpp"
#include "hardware/uncertainty.hpp"
#include "session/other_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace archsim {

namespace fs = std::filesystem;

/// The text of a device or stack that is another than the library's own of this folder and name: whatever
/// somebody gave, by its content. Versions of the library differ in their own, and are there to be compared.
static void add_file(const fs::path& file, std::string_view folder, std::vector<std::string>& keys) {
    if (is_embedded(file) || !is_text_file(file))
        return;
    const std::string text = read_text_file(file.string());
    if (embedded_text(fs::path(kEmbeddedRoot) / "hardware_db" / folder / file.filename()) == text)
        return;
    Digest digest;
    digest.text(text);
    keys.push_back(digest.hex());
}

static std::string key_of(const Machine& machine) {
    std::vector<std::string> keys;
    add_file(machine.device->file, name_of(machine.device->family), keys);
    add_file(machine.runtime->file, "runtimes", keys);
    for (const GivenRow& row : machine.uncertainty ? machine.uncertainty->given() : std::vector<GivenRow>()) {
        Digest digest;
        for (const std::string_view text :
             {std::string_view(row.family), std::string_view(row.device), std::string_view(row.runtime)})
            digest.text(text);
        digest.number(row.metric);
        for (const double share : row.lanes)
            digest.number(share);
        digest.number(row.log_ratio);
        keys.push_back(digest.hex());
    }
    if (keys.empty())
        return {};
    std::ranges::sort(keys);
    Digest all;
    for (const std::string& key : keys)
        all.text(key);
    return all.hex();
}

std::string measured_key(const Session& session, std::string_view device) {
    return key_of(*session.machine(of_one_device(session.hardware(), device, {}).first));
}

std::string measured_key(const Result& result) {
    if (result.machine)
        return key_of(*result.machine);
    for (const ResultPart& part : result.parts)
        if (std::string key = measured_key(*part.result); !key.empty())
            return key;
    return {};
}

std::string with_measured(std::string question_key, std::string_view measured) {
    if (measured.empty())
        return question_key;
    question_key.pop_back(); // the brace at its end
    return fmt::format("{}{}\"measured\":\"{}\"}}", question_key, question_key.size() > 1 ? "," : "",
                       measured);
}

} // namespace archsim
