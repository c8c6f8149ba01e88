#include "checkpoint/model_types.hpp"

#include "core/data_dir.hpp"
#include "core/text_file.hpp"

namespace archsim::checkpoint {

const nlohmann::json& model_types() {
    static const nlohmann::json table = nlohmann::json::parse(read_text_file(data_table("model_types.json")));
    return table;
}

} // namespace archsim::checkpoint
