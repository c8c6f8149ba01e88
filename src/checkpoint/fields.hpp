#pragma once
// A JSON object that remembers which of its fields were read, so that what is left can be reported.

#include "archsim/core/finding.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::checkpoint {

/// A finding of a file: where in it, one sentence, and what to do about it.
Finding found(FindingKind kind, Severity severity, std::string file, std::string where, std::string message,
              std::string hint = {});
/// Throws it.
[[noreturn]] void refuse(std::string file, std::string message, std::string hint, std::string where = {},
                         FindingKind kind = FindingKind::unsupported);

/// No size of a decoder comes near; it keeps products of a few of them exact.
inline constexpr double kLargestCount = 1e12;
/// A decoder with more layers is a mistake of the file, and costs time and memory to build.
inline constexpr std::int64_t kMostLayers = 2000;

/// Parses a configuration as Python writes it: Infinity and NaN stand for null. Throws InputError naming
/// `file`.
nlohmann::json parse_python_json(std::string_view text, const std::string& file);

/// The text of a configuration; what is larger than any is another file. Throws InputError.
std::string read_config_text(const std::filesystem::path& file, std::uintmax_t largest);

/// The text under a key; empty: there is none.
std::string text_at(const nlohmann::json& object, const char* key);

/// Names under which authors state the same thing, most common first.
using Names = std::initializer_list<const char*>;

class Fields {
  public:
    /// `prefix`: place of the object in the file ("text_config."). The object must outlive this.
    Fields(const nlohmann::json& object, std::string file, std::string prefix = {});

    /// The first of `names` that the object has with a value other than null; marks all of them as read.
    const nlohmann::json* find(Names names);
    bool has(Names names) { return find(names) != nullptr; }
    /// A count of at least `least`; throws InputError for another type, a fraction or an absurd size.
    std::int64_t count(Names names, std::int64_t fallback, std::int64_t least = 0);
    /// The same, needed.
    std::int64_t count(Names names);
    double number(Names names, double fallback);
    /// true, and false for absent, null, 0 and false.
    bool flag(Names names, bool fallback = false);
    std::string text(Names names, const std::string& fallback = {});
    std::vector<std::string> texts(Names names);
    std::vector<std::int64_t> counts(Names names);
    /// The object under the first of `names`, or the first of a list of them; empty where there is none.
    Fields part(Names names);
    bool empty() const { return object_.empty(); }
    /// Marks as read without looking.
    void skip(Names names);
    bool was_read(const std::string& key) const { return read_.contains(key); }

    /// A finding that names the fields that were not read and could change a size. An error withholds
    /// whatever rests on the model, and stands first.
    void report_unread(std::vector<Finding>& findings, Severity severity = Severity::error) const;
    [[noreturn]] void refuse(const std::string& key, const std::string& why) const;
    const std::string& file() const { return file_; }
    const nlohmann::json& object() const { return object_; }
    std::string place(const std::string& key) const { return prefix_ + key; }

  private:
    const nlohmann::json& object_;
    std::string file_, prefix_;
    std::set<std::string> read_;
};

/// Whether a field of this name never changes the size of anything.
bool changes_no_size(std::string_view key);

} // namespace archsim::checkpoint
