#include "common/text_input.hpp"

#include "core/text_file.hpp"

namespace archsim::cli {

std::string text_of_file(const std::string& file) {
    return read_text_file(file);
}

} // namespace archsim::cli
