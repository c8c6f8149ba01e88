#include "checkpoint/model_types.hpp"

#include "core/data_dir.hpp"
#include "core/json_document.hpp"
#include "core/text_file.hpp"

namespace archsim::checkpoint {

const nlohmann::json& model_types() {
    static const nlohmann::json table = read_json(read_text_file(data_table("model_types.json"))).root.copy();
    return table;
}

} // namespace archsim::checkpoint
