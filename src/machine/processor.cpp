#include "machine/processor.hpp"

#include "core/parse_number.hpp"
#include "core/scan_text.hpp"
#include "machine/processor_entry.hpp"

namespace archsim {

/// Numbers of a list such as "0-3,8".
static std::set<int> numbers_of_list(std::string_view list) {
    constexpr int kMost = 1 << 16;
    std::set<int> out;
    each_part(list, ',', [&](std::string_view part) {
        const auto dash = part.find('-');
        const auto first = number_at_start(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : number_at_start(part.substr(dash + 1));
        if (!first || !last || *first < 0 || *last >= kMost)
            return;
        for (int i = static_cast<int>(*first); i <= static_cast<int>(*last); ++i)
            out.insert(i);
    });
    return out;
}

using Block = std::map<std::string, std::string, std::less<>>;

/// One block of "key : value" lines per processor.
static std::vector<Block> processors_of(std::string_view cpuinfo) {
    std::vector<Block> blocks;
    each_line(cpuinfo, [&](std::string_view line) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos)
            return;
        const std::string key(trimmed(line.substr(0, colon)));
        if (key == "processor")
            blocks.emplace_back();
        if (!blocks.empty())
            blocks.back()[key] = trimmed(line.substr(colon + 1));
    });
    return blocks;
}

static std::string value_of(const Block& block, std::string_view key) {
    const auto found = block.find(key);
    return found == block.end() ? std::string() : found->second;
}

static void add_flags(std::string_view words, ProcessorSeen& out) {
    while (!(words = trimmed(words)).empty()) {
        const auto end = words.find_first_of(" \t");
        out.flags.emplace(words.substr(0, end));
        words.remove_prefix(end == std::string_view::npos ? words.size() : end);
    }
}

static void read_identity(const std::vector<Block>& blocks, const Identification& id, ProcessorSeen& out) {
    const Block first = blocks.empty() ? Block{} : blocks.front();
    out.name = value_of(first, "model name");
    out.vendor = value_of(first, "vendor_id");
    add_flags(value_of(first, "flags"), out);
    add_flags(value_of(first, "Features"), out);
    auto family = number_at_start(value_of(first, "cpu family")),
         model = number_at_start(value_of(first, "model")),
         stepping = number_at_start(value_of(first, "stepping"));
    if (out.vendor.empty())
        out.vendor = id.vendor();
    if (out.name.empty())
        out.name = id.brand();
    if (!family && id.signature()) {
        family = id.signature()->family;
        model = id.signature()->model;
        stepping = id.signature()->stepping;
    }
    if (out.flags.empty())
        for (const std::string& flag : id.flags())
            out.flags.insert(flag);
    if (family && model)
        out.core = find_microarchitecture(out.vendor, static_cast<int>(*family), static_cast<int>(*model),
                                          static_cast<int>(stepping.value_or(0)));
    // A big.LITTLE chip lists both kinds of core; the later ones are the large ones.
    for (const Block& block : blocks) {
        const auto implementer = number_at_start(value_of(block, "CPU implementer")),
                   part = number_at_start(value_of(block, "CPU part"));
        if (implementer && part)
            if (auto core =
                    find_arm_microarchitecture(static_cast<int>(*implementer), static_cast<int>(*part));
                core && (!out.core || core->lanes_fp32 * core->multiply_pipes >=
                                          out.core->lanes_fp32 * out.core->multiply_pipes))
                out.core = core;
    }
    out.hypervisor_name = id.hypervisor();
    out.hypervisor = out.has("hypervisor") || !out.hypervisor_name.empty();
}

/// Processors' worth of time that a control group grants; nothing without a limit.
static std::optional<double> quota(const Snapshot& snapshot) {
    const std::string_view two = snapshot.text("/sys/fs/cgroup/cpu.max");
    auto granted = number_at_start(two.substr(0, two.find(' ')));
    auto period =
        two.find(' ') == std::string_view::npos ? std::nullopt : number_at_start(two.substr(two.find(' ')));
    if (!granted || !period) {
        granted = number_at_start(snapshot.text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
        period = number_at_start(snapshot.text("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
    }
    if (!granted || !period || *granted <= 0 || *period <= 0)
        return std::nullopt;
    return *granted / *period;
}

static void read_counts(const Snapshot& snapshot, const std::vector<Block>& blocks, ProcessorSeen& out) {
    const std::string_view allowed_line = snapshot.text("allowed");
    const auto colon = allowed_line.find(':');
    const std::set<int> allowed =
        numbers_of_list(colon == std::string_view::npos ? allowed_line : allowed_line.substr(colon + 1));
    std::set<std::pair<std::string, std::string>> cores;
    double threads = 0;
    for (const Block& block : blocks) {
        const auto number = number_at_start(value_of(block, "processor"));
        if (!allowed.empty() && number && !allowed.contains(static_cast<int>(*number)))
            continue;
        ++threads;
        const std::string core = value_of(block, "core id");
        cores.emplace(value_of(block, "physical id"),
                      core.empty() ? fmt::format("thread {}", number.value_or(threads)) : core);
    }
    if (blocks.empty()) {
        const auto online = numbers_of_list(snapshot.text("/sys/devices/system/cpu/online"));
        threads = !allowed.empty()  ? static_cast<double>(allowed.size())
                  : !online.empty() ? static_cast<double>(online.size())
                                    : number_at_start(snapshot.text("processors")).value_or(0);
        for (int i = 0; i < static_cast<int>(threads); ++i)
            cores.emplace("", fmt::format("thread {}", i));
    }
    out.cores_counted = threads > 0;
    out.threads = std::max(1.0, threads);
    out.cores = std::max<double>(1, static_cast<double>(cores.size()));
    if (blocks.size() > static_cast<std::size_t>(out.threads))
        out.limit = fmt::format("affinity: {:g} of {} processors", out.threads, blocks.size());
    if (const auto granted = quota(snapshot); granted && *granted < out.cores) {
        out.cores = std::max(1.0, std::floor(*granted));
        out.threads = std::min(out.threads, out.cores);
        out.limit = fmt::format("quota of the container: {:g} processors", *granted);
    }
}

static void read_clocks(const Snapshot& snapshot, const std::vector<Block>& blocks, const Identification& id,
                        ProcessorSeen& out) {
    const auto kilohertz = [&](const char* file) -> std::optional<double> {
        const auto value = number_at_start(snapshot.text(file));
        return value && *value > 0 ? std::optional(*value * kKilo) : std::nullopt;
    };
    out.base_hz = kilohertz("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency");
    out.boost_hz = kilohertz("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    if (!out.base_hz && id.base_megahertz() > 0)
        out.base_hz = id.base_megahertz() * kMega;
    if (!out.boost_hz && id.boost_megahertz() > 0)
        out.boost_hz = id.boost_megahertz() * kMega;
    // Brand names of Intel end in the base clock. A virtual machine shows the rate of the time-stamp counter,
    // which is the base clock on the processors of the last ten years.
    if (const auto at = out.name.find('@'); !out.base_hz && at != std::string::npos)
        if (const auto value = number_at_start(std::string_view(out.name).substr(at + 1));
            value && out.name.find("GHz", at) != std::string::npos)
            out.base_hz = *value * kGiga;
    if (!out.base_hz && out.hypervisor && !blocks.empty())
        if (const auto value = number_at_start(value_of(blocks.front(), "cpu MHz")); value && *value > 0)
            out.base_hz = *value * kMega;
}

static std::optional<double> size_in(std::string_view text) {
    const auto value = number_at_start(text);
    if (!value || *value <= 0)
        return std::nullopt;
    return *value * (text.find('K') != std::string_view::npos   ? kKibi
                     : text.find('M') != std::string_view::npos ? kKibi * kKibi
                                                                : 1.0);
}

/// From /sys: private levels of the first core, and the sum of the last levels that differ in who shares
/// them.
static void read_caches(const Snapshot& snapshot, ProcessorSeen& out) {
    constexpr std::string_view kRoot = "/sys/devices/system/cpu/", kLevel = "/level";
    std::map<std::string, double, std::less<>> last;
    for (const auto& [source, text] : snapshot.texts) {
        if (!source.starts_with(kRoot) || !source.ends_with(kLevel) ||
            source.find("/cache/") == std::string::npos)
            continue;
        const std::string folder = source.substr(0, source.size() - kLevel.size());
        if (snapshot.text(folder + "/type") == "Instruction")
            continue;
        const auto size = size_in(snapshot.text(folder + "/size"));
        const std::string_view level = snapshot.text(source);
        if (!size)
            continue;
        if (level == "1" && !out.l1_bytes)
            out.l1_bytes = size;
        else if (level == "2" && !out.l2_bytes)
            out.l2_bytes = size;
        else if (level == "3")
            last[std::string(snapshot.text(folder + "/shared_cpu_list"))] = *size;
    }
    for (const auto& [shared, size] : last)
        out.l3_bytes = out.l3_bytes.value_or(0) + size;
}

static void read_memory(const Snapshot& snapshot, ProcessorSeen& out) {
    each_line(snapshot.text("/proc/meminfo"), [&](std::string_view line) {
        constexpr std::string_view kTotal = "MemTotal:";
        if (line.starts_with(kTotal))
            if (const auto value = number_at_start(line.substr(kTotal.size())))
                out.memory_bytes = *value * kKibi;
    });
    for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
        if (const auto limit = number_at_start(snapshot.text(file));
            limit && *limit > 0 && (!out.memory_bytes || *limit < *out.memory_bytes)) {
            constexpr double kNoLimit = 1e15; // version 1 writes the largest page-aligned number
            if (*limit < kNoLimit) {
                out.memory_bytes = limit;
                out.memory_limited = true;
            }
        }
}

ProcessorSeen read_processor(const Snapshot& snapshot) {
    ProcessorSeen out;
    const std::vector<Block> blocks = processors_of(snapshot.text("/proc/cpuinfo"));
    const Identification id(snapshot.text("cpuid"));
    read_identity(blocks, id, out);
    read_counts(snapshot, blocks, out);
    read_clocks(snapshot, blocks, id, out);
    read_caches(snapshot, out);
    if (const auto caches = id.caches(); !out.l1_bytes) {
        out.l1_bytes = caches.l1;
        out.l2_bytes = caches.l2;
        out.l3_bytes = caches.l3;
    }
    read_memory(snapshot, out);
    return out;
}

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
