#pragma once
// Bundles of models: a zip archive (PKWARE APPNOTE 6.3) whose members are TensorFlow Lite files, as
// MediaPipe's .task files are. A stored member is read where it lies; a compressed one is unpacked into
// memory.

#include "import/flat_buffer.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::import {

/// A model of a bundle, and the graph of it that was asked for.
class BundledModel {
  public:
    FlatBuffer buffer() const { return {unpacked_ ? *unpacked_ : *bytes_, first_, size_}; }
    std::string graph; ///< empty: the first

  private:
    friend BundledModel find_in_bundle(ByteSource& bytes, std::string_view part, const std::string& file,
                                       double most_bytes);

    ByteSource* bytes_ = nullptr;
    std::uint64_t first_ = 0, size_ = 0;
    std::shared_ptr<const std::vector<std::uint8_t>> memory_;
    std::shared_ptr<ByteSource> unpacked_; ///< of a compressed member
};

/// Whether the bytes begin as an archive does.
bool is_bundle(ByteSource& bytes);

/// The model that `part` names, the only one where it names none. Throws FlatError for a damaged archive and
/// InputError where the choice is not clear, or the model unpacks to more than `most_bytes`.
BundledModel find_in_bundle(ByteSource& bytes, std::string_view part, const std::string& file,
                            double most_bytes);

} // namespace archsim::import
