#include "web/fragments.hpp"

#include <fmt/format.h>

namespace archsim::web {

Json sections(const Report& report, const std::string& name) {
    Json list = Json::array();
    std::string title;
    std::vector<Block> blocks;
    const auto close = [&] {
        if (!blocks.empty())
            list.push_back(
                {{"title", title}, {"html", html_fragment(blocks, fmt::format("{}-{}", name, list.size()))}});
        blocks.clear();
    };
    for (const Block& block : report.blocks) {
        const auto* heading = std::get_if<Heading>(&block);
        if (heading && heading->level <= 2) {
            close();
            title = heading->text;
        } else {
            blocks.push_back(block);
        }
    }
    close();
    return list;
}

} // namespace archsim::web
