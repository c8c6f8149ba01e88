#include "common/say.hpp"

#include "core/text.hpp"

#include <cstddef>
#include <cstdio>
#include <new>

namespace archsim::cli {

void say_text(std::string text) noexcept {
    constexpr std::size_t kMost = std::size_t{1} << 16;
    try {
        const bool cut = text.size() > kMost;
        if (cut)
            text.resize(text.rfind('\n', kMost) == std::string::npos ? kMost : text.rfind('\n', kMost));
        text = without_commands(printable(std::move(text)));
        if (cut)
            text += "\n(more of the same is left out)\n";
    } catch (const std::bad_alloc&) { // it is said as it is
    }
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

} // namespace archsim::cli
