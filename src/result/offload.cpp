#include "result/offload.hpp"

#include <fmt/format.h>

namespace archsim {

std::optional<PartsInTurn> parts_in_turn(const Result& result) {
    PartsInTurn turn;
    if (result.parts.size() < 2)
        return std::nullopt;
    for (const ResultPart& part : result.parts) {
        const MemoryEstimate& memory = part.result->estimate.memory;
        if (memory.peak_bytes <= 0)
            return std::nullopt;
        turn.moved_bytes += memory.weight_bytes;
        if (memory.peak_bytes > turn.peak_bytes) {
            turn.peak_bytes = memory.peak_bytes;
            turn.largest = part.name;
        }
    }
    if (!result.machine || result.machine->host)
        return turn;
    if (const double link = result.machine->rate(Resource::host_link_bytes); link > 0)
        turn.moved_s = turn.moved_bytes / link;
    return turn;
}

std::string in_words(const std::optional<PartsInTurn>& parts) {
    if (!parts)
        return {};
    std::string text =
        fmt::format("one part at a time takes {:.3g} GB ({})", parts->peak_bytes / 1e9, parts->largest);
    if (parts->moved_s > 0)
        text += fmt::format(", with {:.3g} GB over the link to the host, {:.3g} s more per batch",
                            parts->moved_bytes / 1e9, parts->moved_s);
    return text;
}

} // namespace archsim
