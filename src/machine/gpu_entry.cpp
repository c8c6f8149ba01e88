#include "machine/processor_entry.hpp"

#include "core/json_document.hpp"
#include "core/scan_text.hpp"

namespace archsim {

using Known = EntryWriter::Known;

struct GpuSeen {
    std::string name, tool;
    std::optional<double> memory_bytes, clock_hz, limit_w;
    bool partitioned = false; ///< a slice of the chip is what programs see
};

/// Cells of a line, without blanks around them; empty ones count.
static std::vector<std::string_view> cells_of(std::string_view line, char separator) {
    std::vector<std::string_view> cells;
    each_part(line, separator, [&](std::string_view cell) { cells.push_back(trimmed(cell)); });
    return cells;
}

/// A quantity that is there: "[N/A]" and 0 are none.
static std::optional<double> number_in(std::string_view text) {
    const auto value = number_at_start(text);
    return value && *value > 0 ? value : std::nullopt;
}

static std::optional<double> times(const std::optional<double>& value, double factor) {
    return value ? std::optional(*value * factor) : std::nullopt;
}

/// nvidia-smi --query-gpu=name,memory.total,clocks.max.sm,clocks.max.memory,power.limit,mig.mode.current
/// --format=csv,noheader,nounits: MiB, MHz, MHz, W.
static std::vector<GpuSeen> read_nvidia(std::string_view text) {
    std::vector<GpuSeen> gpus;
    each_line(text, [&](std::string_view line) {
        const auto cells = cells_of(line, ',');
        constexpr std::size_t kName = 0, kMemory = 1, kClock = 2, kLimit = 4, kMig = 5;
        if (line.empty() || cells.size() <= kLimit)
            return;
        gpus.push_back({std::string(cells[kName]), "nvidia-smi", times(number_in(cells[kMemory]), kMebi),
                        times(number_in(cells[kClock]), kMega), number_in(cells[kLimit]),
                        cells.size() > kMig && cells[kMig] == "Enabled"});
    });
    return gpus;
}

/// rocm-smi --showproductname --showmeminfo vram --csv: a line of titles, then a line per card.
static std::vector<GpuSeen> read_amd(std::string_view text) {
    std::vector<GpuSeen> gpus;
    std::vector<std::string_view> titles;
    each_line(text, [&](std::string_view line) {
        const auto cells = cells_of(line, ',');
        if (line.starts_with("device")) {
            titles.assign(cells.begin(), cells.end());
            return;
        }
        if (titles.empty() || !line.starts_with("card"))
            return;
        GpuSeen gpu{.tool = "rocm-smi"};
        for (std::size_t i = 0; i < std::min(titles.size(), cells.size()); ++i) {
            if (titles[i] == "VRAM Total Memory (B)")
                gpu.memory_bytes = number_in(cells[i]);
            else if ((titles[i] == "Card Series" || titles[i] == "Card series" ||
                      titles[i] == "Card Model") &&
                     gpu.name.size() < cells[i].size() && !cells[i].starts_with("0x"))
                gpu.name = cells[i];
        }
        if (!gpu.name.empty())
            gpus.push_back(std::move(gpu));
    });
    return gpus;
}

// Makers of computing GPUs, by their ids of the PCI bus.
constexpr std::string_view kPciNvidia = "0x10de", kPciAmd = "0x1002", kPciIntel = "0x8086";

/// The name of a card in hardware_db/pci_ids.json; empty where it has no such one.
static std::string card_name(std::string_view vendor, std::string_view device) {
    const JsonDocument table = read_table("pci_ids.json");
    for (const JsonValue& card : table.root.items_at("cards"))
        if (card.text_at("vendor") == vendor && card.text_at("device") == device)
            return std::string(card.text_at("name"));
    return "";
}

/// Cards of the bus whose makers' tools said nothing. Cards without a name are those of virtual machines and
/// servers' consoles; only the makers of computing GPUs are kept.
static std::vector<GpuSeen> read_bus(std::string_view lines, bool nvidia_told, bool amd_told) {
    std::vector<GpuSeen> gpus;
    each_line(lines, [&](std::string_view line) {
        const auto cells = cells_of(line, ' ');
        if (cells.size() < 2 || (cells[0] == kPciNvidia && nvidia_told) ||
            (cells[0] == kPciAmd && amd_told) ||
            (cells[0] != kPciNvidia && cells[0] != kPciAmd && cells[0] != kPciIntel))
            return;
        GpuSeen gpu{.name = card_name(cells[0], cells[1]), .tool = "PCI bus"};
        if (gpu.name.empty())
            gpu.name = fmt::format("PCI {}:{}", cells[0], cells[1]);
        gpus.push_back(std::move(gpu));
    });
    return gpus;
}

/// Products of one name differ in memory (A100, V100): the one whose capacity is nearest to what is seen.
static std::shared_ptr<const Device> device_of(const GpuSeen& gpu, const Devices& devices) {
    auto named = find_by_name(gpu.name, Family("gpu"), devices);
    if (!named || !gpu.memory_bytes)
        return named;
    const auto distance = [&](const Device& device) {
        const double capacity = device.dram ? device.dram->capacity.value_or(0) : 0;
        return capacity > 0 ? std::abs(std::log(capacity / *gpu.memory_bytes)) : 1;
    };
    constexpr double kOther = 0.25; // reserved memory and units (GB, GiB) make up to 10 %
    if (distance(*named) < kOther)
        return named;
    for (const auto& device : devices)
        if (device->family == Family("gpu") && device->generation == named->generation &&
            device->vendor == named->vendor &&
            device->id.starts_with(named->id.substr(0, named->id.find('-'))) &&
            distance(*device) < distance(*named))
            named = device;
    return named;
}

static MachineEntry entry_of(const GpuSeen& gpu, std::string id, const Devices& devices) {
    EntryWriter out(id);
    MachineEntry& entry = out.entry();
    entry.title = gpu.name;
    const auto device = device_of(gpu, devices);
    if (gpu.partitioned)
        out.remark("the GPU is partitioned (MIG): the entry describes the whole chip");
    if (!device) {
        entry.match = "the database has no GPU of this name";
        out.remark(fmt::format("no entry for {}: describe it in a file (docs/adding_a_device.md)", gpu.name));
        return std::move(entry);
    }
    entry.matched = device->id;
    entry.match = fmt::format("by its name, from {}", gpu.tool);
    out.document["extends"] = device->id;
    out.document["id"] = id;
    out.document["name"] = gpu.name;
    const auto borrowed = [&](double value) { return Known{value, Origin::database, device->id}; };
    const auto seen = [&](double value) { return Known{value, Origin::detected, gpu.tool}; };
    if (const auto peak = device->peak(EngineClass::matrix, Precision::fp16); peak > 0)
        out.fact("fp16 peak", fmt::format("{:.4g} TFLOP/s", peak / kTera), borrowed(peak));
    if (gpu.clock_hz)
        out.fact("clock, highest", fmt::format("{:.0f} MHz", *gpu.clock_hz / kMega), seen(*gpu.clock_hz));
    if (gpu.memory_bytes) {
        const Known memory = seen(*gpu.memory_bytes);
        out.document["dram"]["capacity"] = out.quantity(memory, "GiB", kGibi);
        out.fact("memory", fmt::format("{:.4g} GiB", memory.value / kGibi), memory);
    }
    if (device->dram && device->dram->bandwidth.known())
        out.fact("memory bandwidth", fmt::format("{:.4g} GB/s", device->dram->bandwidth.value / kGiga),
                 borrowed(device->dram->bandwidth.value));
    if (gpu.limit_w) {
        const Known limit = seen(*gpu.limit_w);
        out.document["power"]["tdp"] = out.quantity(limit, "W");
        out.fact("power limit", fmt::format("{:.4g} W", limit.value), limit);
    }
    if (!gpu.memory_bytes && !gpu.limit_w)
        out.source(Origin::detected, gpu.tool);
    return out.finish();
}

std::vector<MachineEntry> gpu_entries(const Snapshot& snapshot, const Devices& devices) {
    std::vector<GpuSeen> gpus = read_nvidia(snapshot.text("nvidia-smi"));
    const bool nvidia = !gpus.empty();
    const std::vector<GpuSeen> amd = read_amd(snapshot.text("rocm-smi"));
    gpus.insert(gpus.end(), amd.begin(), amd.end());
    const std::vector<GpuSeen> bus = read_bus(snapshot.text("pci"), nvidia, !amd.empty());
    gpus.insert(gpus.end(), bus.begin(), bus.end());
    std::vector<MachineEntry> entries;
    for (const GpuSeen& gpu : gpus)
        entries.push_back(entry_of(
            gpu, entries.empty() ? std::string(kThisGpu) : fmt::format("{}-{}", kThisGpu, entries.size() + 1),
            devices));
    return entries;
}

} // namespace archsim
