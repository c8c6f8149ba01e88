#include "machine/identification.hpp"
#include "core/parse_number.hpp"

#include <algorithm>

namespace archsim {

// Numbers of registers in a leaf.
constexpr std::size_t kA = 0, kB = 1, kC = 2, kD = 3;
constexpr std::uint32_t kByte = 0xFF;

static void append_bytes(std::uint32_t word, std::string& out) {
    for (int i = 0; i < 4; ++i, word >>= 8)
        out += static_cast<char>(word & kByte);
}

/// Text up to its first zero, without blanks at its ends.
static std::string cleaned(std::string text) {
    text.resize(std::min(text.size(), text.find('\0')));
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? std::string()
                                      : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

Identification::Identification(std::string_view lines) {
    constexpr std::size_t kFields = 6;
    while (!lines.empty()) {
        const auto end = lines.find('\n');
        std::string_view line = lines.substr(0, end);
        lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
        std::array<std::uint32_t, kFields> values{};
        std::size_t read = 0;
        while (read < kFields) {
            line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
            const auto value = take_number<std::uint32_t>(line, 16);
            if (!value)
                break;
            values[read++] = *value;
        }
        if (read == kFields)
            leaves_[{values[0], values[1]}] = {values[2], values[3], values[4], values[5]};
    }
}

const Identification::Registers* Identification::leaf(std::uint32_t number, std::uint32_t sub) const {
    const auto found = leaves_.find({number, sub});
    return found == leaves_.end() ? nullptr : &found->second;
}

std::string Identification::vendor() const {
    std::string text;
    if (const Registers* r = leaf(0))
        for (const std::size_t i : {kB, kD, kC})
            append_bytes((*r)[i], text);
    return cleaned(text);
}

std::string Identification::brand() const {
    std::string text;
    for (const std::uint32_t number : {0x80000002U, 0x80000003U, 0x80000004U})
        if (const Registers* r = leaf(number))
            for (const std::uint32_t word : *r)
                append_bytes(word, text);
    return cleaned(text);
}

std::optional<Identification::Signature> Identification::signature() const {
    const Registers* r = leaf(1);
    if (r == nullptr)
        return std::nullopt;
    const std::uint32_t a = (*r)[kA];
    const auto bits = [a](int from, std::uint32_t mask) { return static_cast<int>((a >> from) & mask); };
    Signature s{bits(8, 0xF), bits(4, 0xF), bits(0, 0xF)};
    constexpr int kExtendedFamily = 0xF, kIntelFamily = 6;
    if (s.family == kExtendedFamily || s.family == kIntelFamily)
        s.model += bits(16, 0xF) << 4;
    if (s.family == kExtendedFamily)
        s.family += bits(20, kByte);
    return s;
}

std::string Identification::hypervisor() const {
    constexpr std::uint32_t kPresent = 1U << 31;
    const Registers* features = leaf(1);
    if (features == nullptr || ((*features)[kC] & kPresent) == 0)
        return {};
    std::string text;
    if (const Registers* r = leaf(0x40000000))
        for (const std::size_t i : {kB, kC, kD})
            append_bytes((*r)[i], text);
    text = cleaned(text);
    return text.empty() ? "unnamed" : text;
}

double Identification::base_megahertz() const {
    const Registers* r = leaf(0x16);
    return r == nullptr ? 0 : (*r)[kA] & 0xFFFF;
}

double Identification::boost_megahertz() const {
    const Registers* r = leaf(0x16);
    return r == nullptr ? 0 : (*r)[kB] & 0xFFFF;
}

Identification::Caches Identification::caches() const {
    Caches out;
    constexpr std::uint32_t kInstruction = 2, kMostCaches = 8;
    for (const std::uint32_t number : {0x4U, 0x8000001DU}) // Intel, AMD: the same layout
        for (std::uint32_t sub = 0; sub < kMostCaches; ++sub) {
            const Registers* r = leaf(number, sub);
            if (r == nullptr)
                break;
            const std::uint32_t a = (*r)[kA], b = (*r)[kB], kind = a & 0x1F, level = (a >> 5) & 7;
            if (kind == 0)
                break;
            if (kind == kInstruction)
                continue;
            const double ways = (b >> 22) + 1.0, partitions = ((b >> 12) & 0x3FF) + 1.0,
                         line = (b & 0xFFF) + 1.0, sets = (*r)[kC] + 1.0;
            std::optional<double>* const at = level == 1   ? &out.l1
                                              : level == 2 ? &out.l2
                                              : level == 3 ? &out.l3
                                                           : nullptr;
            if (at != nullptr && !*at)
                *at = ways * partitions * line * sets;
        }
    return out;
}

std::vector<std::string> Identification::flags() const {
    struct Bit {
        std::uint32_t leaf, sub;
        std::size_t word;
        int bit;
        const char* name;
    };
    // Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID.
    static constexpr std::array kBits = {
        Bit{1, 0, kC, 12, "fma"},         Bit{1, 0, kC, 28, "avx"},      Bit{1, 0, kC, 31, "hypervisor"},
        Bit{7, 0, kB, 5, "avx2"},         Bit{7, 0, kB, 16, "avx512f"},  Bit{7, 0, kC, 11, "avx512_vnni"},
        Bit{7, 0, kD, 23, "avx512_fp16"}, Bit{7, 0, kD, 22, "amx_bf16"}, Bit{7, 0, kD, 24, "amx_tile"},
        Bit{7, 0, kD, 25, "amx_int8"},    Bit{7, 1, kA, 4, "avx_vnni"},  Bit{7, 1, kA, 5, "avx512_bf16"},
    };
    std::vector<std::string> names;
    for (const Bit& bit : kBits)
        if (const Registers* r = leaf(bit.leaf, bit.sub);
            r != nullptr && ((*r)[bit.word] >> bit.bit & 1) != 0)
            names.emplace_back(bit.name);
    return names;
}

} // namespace archsim
