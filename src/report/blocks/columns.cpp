#include "report/blocks/columns.hpp"

namespace archsim {

nlohmann::ordered_json json_of(const Cell& cell) {
    using Json = nlohmann::ordered_json;
    if (cell.value) {
        if (!std::isfinite(*cell.value))
            return nullptr;
        if (cell.kind == CellKind::flag)
            return *cell.value != 0;
        return cell.kind == CellKind::count ? Json(static_cast<std::int64_t>(*cell.value))
                                            : Json(*cell.value);
    }
    if (cell.interval)
        return nullptr;
    return cell.text.empty() && cell.kind != CellKind::text ? Json(nullptr) : Json(cell.text);
}

nlohmann::ordered_json schema_of(CellType type) {
    switch (type) {
    case CellType::text:
        return {{"type", "string"}};
    case CellType::name:
        return {{"type", {"string", "null"}}};
    case CellType::number:
        return {{"type", {"number", "null"}}};
    case CellType::count:
        return {{"type", {"integer", "null"}}};
    case CellType::number_or_word:
        return {{"type", {"number", "string", "null"}}};
    case CellType::flag:
        break;
    }
    return {{"type", {"boolean", "null"}}};
}

} // namespace archsim
