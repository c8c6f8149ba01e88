#pragma once
// Side files that hold the payload of tensors. They are looked up for existence and size; only small
// constants that may decide a shape are read from them.

#include "import/findings.hpp"
#include "import/messages.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>

namespace archsim::import {

class ExternalData {
  public:
    /// `folder` is the model's; none when the model was read from memory, whose side files cannot be looked
    /// up.
    ExternalData(std::optional<std::filesystem::path> folder, Findings& findings)
        : folder_(std::move(folder)), findings_(findings) {}

    /// Checks the side file of a tensor whose shape asks for `bytes` bytes: a relative path that stays inside
    /// the model's folder, a file long enough. What is wrong becomes a finding, once per side file. Returns
    /// the payload when `wanted` and it is there.
    std::string look_up(const TensorMessage& tensor, std::uint64_t bytes, bool wanted);

  private:
    struct SideFile {
        std::filesystem::path path;
        std::optional<std::uint64_t> size; ///< none: not there, or not to be looked at
        bool reported = false;
    };

    SideFile& side_file(const std::string& location, const std::string& tensor);
    void report(SideFile& file, FindingKind kind, Severity severity, const std::string& tensor,
                const std::string& message, const std::string& hint);

    std::optional<std::filesystem::path> folder_;
    Findings& findings_;
    std::unordered_map<std::string, SideFile> files_;
};

} // namespace archsim::import
