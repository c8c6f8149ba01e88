// Asks the page's desk arbitrary bytes: an answer, or an error in a sentence that is no fault of the library.

#include "archsim/core/finding.hpp"
#include "web/desk.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        // Every device at once would take seconds.
        const std::size_t devices = archsim::web::read_question(text).hardware.size();
        if (devices < 1 || devices > 2)
            return 0;
    } catch (const archsim::Error&) {
        return 0;
    }
    static archsim::web::Desk desk;
    if (desk.answer(text).find(R"({"error":{"kind":"fault")") == 0)
        std::abort();
    return 0;
}
