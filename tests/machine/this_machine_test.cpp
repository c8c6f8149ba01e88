// Captured texts -> entries. The machine that runs the tests takes no part, except in the last one.

#include "archsim/core/finding.hpp"
#include "archsim/run/session.hpp"
#include "core/data_dir.hpp"
#include "machine/processor.hpp"
#include "machine/this_machine.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <unistd.h>

using namespace archsim;

namespace {

const std::filesystem::path kSnapshots = std::filesystem::path(__FILE__).parent_path() / "snapshots";

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    REQUIRE(stream);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

Snapshot snapshot(const std::string& name) {
    return parse_snapshot(text_of(kSnapshots / (name + ".txt")), name);
}

const HardwareDatabase& shipped() {
    static const HardwareDatabase database(data_dir() / "hardware_db");
    return database;
}

MachineEntry processor_of(const Snapshot& texts, const ProbeResult& probe = {}) {
    return describe_machine(texts, shipped(), probe).entries.front();
}

const MachineFact& fact(const MachineEntry& entry, const std::string& what) {
    for (const MachineFact& candidate : entry.facts)
        if (candidate.what == what)
            return candidate;
    FAIL("no fact \"" << what << "\"");
    return entry.facts.front();
}

/// The entry as a file that the checker and a session read.
class EntryFile {
  public:
    explicit EntryFile(const std::string& json)
        : folder_(std::filesystem::temp_directory_path() / ("archsim-machine-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(folder_);
        std::ofstream(path()) << json;
    }
    ~EntryFile() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    EntryFile(const EntryFile&) = delete;
    EntryFile& operator=(const EntryFile&) = delete;
    std::filesystem::path path() const { return folder_ / "this-machine.json"; }

  private:
    std::filesystem::path folder_;
};

} // namespace

TEST_CASE("every captured machine makes an entry that passes the checker and gives an estimate",
          "[machine]") {
    std::vector<Snapshot> machines = {Snapshot{}}; // nothing is shown at all
    for (const auto& file : std::filesystem::directory_iterator(kSnapshots))
        machines.push_back(parse_snapshot(text_of(file.path()), file.path().string()));
    REQUIRE(machines.size() > 4);
    for (const Snapshot& texts : machines) {
        const MachineEntry entry = processor_of(texts);
        INFO(entry.title << "\n" << entry.json);
        const EntryFile file(entry.json);
        const auto findings = check_hardware(file.path());
        for (const Finding& finding : findings)
            UNSCOPED_INFO(to_string(finding));
        CHECK(findings.empty());
        const Session session;
        const Result result = session.estimate({.model = session.load("resnet18")}, file.path().string());
        CHECK(result.ok());
        CHECK(result.estimate.latency_s > 0);
        for (const MachineFact& known : entry.facts)
            CHECK_FALSE(known.from.empty());
    }
}

TEST_CASE("a virtual machine has the cores and caches that it shows, and the clock of its generation",
          "[machine]") {
    const MachineEntry entry = processor_of(snapshot("emerald_rapids_vm"));
    CHECK(fact(entry, "cores").value == "2");
    CHECK(fact(entry, "cores").origin == Origin::detected);
    CHECK(fact(entry, "L2 of a core").value == "2048 KiB");
    CHECK(fact(entry, "L3 seen").value == "260 MiB");
    CHECK(fact(entry, "L3 seen").origin == Origin::detected);
    CHECK(fact(entry, "L3").origin == Origin::assumed); // neighbours fill it too
    CHECK(fact(entry, "clock, base").value == "2.30 GHz");
    CHECK(fact(entry, "clock, all cores busy").origin == Origin::database);
    CHECK(shipped().device(entry.matched).device->generation == "emerald-rapids");
    // The hypervisor hides the matrix tiles, so nothing may use them.
    CHECK(entry.json.find("AMX") == std::string::npos);
    CHECK(entry.json.find("\"1-thread\"") != std::string::npos);
    CHECK(entry.json.find("\"2-threads\"") != std::string::npos);
    REQUIRE_FALSE(entry.remarks.empty());
}

TEST_CASE("a probe replaces assumptions and says so", "[machine]") {
    ProbeResult probe;
    probe.clock_hz = 2.5e9;
    probe.core_bandwidth = 9e9;
    probe.memory_bandwidth = 16e9;
    const MachineEntry entry = processor_of(snapshot("unknown"), probe);
    CHECK(fact(entry, "clock, all cores busy").value == "2.50 GHz");
    CHECK(fact(entry, "clock, all cores busy").origin == Origin::measured);
    CHECK(fact(entry, "memory bandwidth").value == "16 GB/s");
    CHECK(fact(entry, "memory bandwidth").origin == Origin::measured);
}

TEST_CASE("a boot is measured once, and again where what was kept is of another", "[machine]") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "archsim_probe_of_boot";
    std::filesystem::remove_all(folder);
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    // A program that links the library is promised that nothing is measured or written.
    CHECK_FALSE(probe_of_boot().core_bandwidth);
    CHECK_FALSE(std::filesystem::exists(folder));
    let_machine_be_measured();
    // Nothing is measured, nor kept, while other tests keep the cores busy.
    if (const ProbeResult first = probe_of_boot(); first.core_bandwidth) {
        const ProbeResult second = probe_of_boot();
        CHECK(second.clock_hz == first.clock_hz);
        CHECK(second.core_bandwidth == first.core_bandwidth);
        CHECK(second.memory_bandwidth == first.memory_bandwidth);
        std::ofstream(folder / "archsim/probe") << "another-boot 1 1 1 1";
        CHECK(probe_of_boot().core_bandwidth.value_or(2) > 1);
    }
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(folder);
}

TEST_CASE("a container's limits count, and what it hides comes from the product", "[machine]") {
    const MachineEntry entry = processor_of(snapshot("container"));
    CHECK(entry.matched == "Xeon-8480+");
    CHECK(fact(entry, "cores").value ==
          "4"); // a quota of four processors on eight cores with two threads each
    CHECK(fact(entry, "memory").value == "8 GiB");
    CHECK(fact(entry, "L2 of a core").origin == Origin::database);
    CHECK(entry.json.find("AMX") != std::string::npos); // the flags show it
}

TEST_CASE("an unknown processor gets assumptions with names", "[machine]") {
    for (const Snapshot& texts : {snapshot("unknown"), Snapshot{}}) {
        const MachineEntry entry = processor_of(texts);
        CHECK(entry.matched.empty());
        CHECK(fact(entry, "clock, all cores busy").origin == Origin::assumed);
        CHECK(fact(entry, "memory bandwidth").origin == Origin::assumed);
        REQUIRE_FALSE(entry.remarks.empty());
        CHECK(entry.remarks.back().find("--probe") != std::string::npos);
    }
    CHECK(fact(processor_of(snapshot("unknown")), "cores").value == "2");
    CHECK(fact(processor_of(Snapshot{}), "cores").origin == Origin::assumed);
}

TEST_CASE("a board is found by the name in its device tree", "[machine]") {
    const MachineEntry entry = processor_of(snapshot("raspberry_pi_5"));
    CHECK(entry.matched == "Cortex-A76-RPi5");
    CHECK(fact(entry, "cores").value == "4");
}

TEST_CASE("GPUs: the product of that memory, its limit, one entry each", "[machine]") {
    const ThisMachine machine = describe_machine(snapshot("gpu_server"), shipped());
    REQUIRE(machine.entries.size() == 3); // the console's display controller is none
    CHECK(machine.entries[1].id == kThisGpu);
    CHECK(machine.entries[2].id == "this-gpu-2");
    CHECK(machine.entries[1].matched.starts_with("A100"));
    CHECK(fact(machine.entries[1], "memory").value == "80 GiB");
    CHECK(fact(machine.entries[1], "power limit").value == "400 W");
    const double capacity = shipped().device(machine.entries[1].matched).device->dram->capacity.value;
    CHECK(capacity == Approx(80e9).epsilon(0.1));
}

TEST_CASE("GPUs without tools are named by the bus, unknown ones have no entry", "[machine]") {
    Snapshot texts;
    texts.texts["pci"] = "0x10de 0x2330 0x030200\n0x1002 0xffff 0x038000\n";
    const ThisMachine machine = describe_machine(texts, shipped());
    REQUIRE(machine.entries.size() == 3);
    CHECK(machine.entries[1].matched == "H100");
    CHECK(machine.entries[2].json.empty());
    CHECK_FALSE(machine.entries[2].remarks.empty());
}

TEST_CASE("identification leaves: signature, caches and names", "[machine]") {
    // Emerald Rapids: family 6, model 207, stepping 2; L1D 48 KiB = 12 ways x 64 bytes x 64 sets.
    const Identification id("00000000 0 0000001c 756e6547 6c65746e 49656e69\n"
                            "00000001 0 000c06f2 00020800 ff3a3203 1f8bfbff\n"
                            "00000004 0 04000121 02c0003f 0000003f 00000000\n"
                            "40000000 0 40000001 4b4d564b 564b4d56 0000004d\n"
                            "not a line\n");
    CHECK(id.vendor() == "GenuineIntel");
    REQUIRE(id.signature());
    CHECK(id.signature()->family == 6);
    CHECK(id.signature()->model == 207);
    CHECK(id.signature()->stepping == 2);
    CHECK(id.caches().l1 == 48 * 1024.0);
    CHECK(id.hypervisor() == "KVMKVMKVM");
    CHECK_FALSE(Identification("").signature());
    // The same through a machine without /proc.
    Snapshot texts;
    texts.texts["cpuid"] =
        "00000000 0 0000001c 756e6547 6c65746e 49656e69\n00000001 0 000c06f2 00020800 ff3a3203 1f8bfbff\n";
    const ProcessorSeen seen = read_processor(texts);
    REQUIRE(seen.core);
    CHECK(seen.core->generation == "emerald-rapids");
}

TEST_CASE("a snapshot survives being written, and what is none is refused", "[machine]") {
    const Snapshot texts = snapshot("zen5_vm");
    CHECK(parse_snapshot(to_text(texts), "again").texts == texts.texts);
    CHECK_THROWS_AS(parse_snapshot("processor : 0\n", "cpuinfo"), InputError);
}

TEST_CASE("damaged texts make an entry all the same", "[machine]") {
    for (const char* junk :
         {"", "\n\n", "processor", "processor :\nprocessor : x\n", "\xFF\xFE processor : 1e999\n"})
        for (const char* source :
             {"/proc/cpuinfo", "/proc/meminfo", "cpuid", "allowed", "nvidia-smi", "rocm-smi", "pci",
              "/sys/fs/cgroup/cpu.max", "/sys/devices/system/cpu/cpu0/cache/index0/level"}) {
            Snapshot texts;
            texts.texts[source] = junk;
            CHECK_FALSE(processor_of(texts).json.empty());
        }
}

TEST_CASE("the machine at hand answers to its name", "[machine]") {
    const Session session;
    const Result result = session.estimate({.model = session.load("resnet18")}, kThisMachine);
    INFO(result.estimate.reason);
    CHECK(result.ok());
    CHECK(result.device->id == kThisMachine);
}

namespace {

/// A folder that stands for the root of a machine, with the files given.
class FakeRoot {
  public:
    explicit FakeRoot(const std::map<std::string, std::string>& files)
        : folder_(std::filesystem::temp_directory_path() / ("archsim-root-" + std::to_string(getpid()))) {
        std::filesystem::create_directories(folder_);
        for (const auto& [path, text] : files) {
            const auto file = folder_ / std::filesystem::path(path).relative_path();
            std::filesystem::create_directories(file.parent_path());
            std::ofstream(file) << text;
        }
    }
    ~FakeRoot() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    FakeRoot(const FakeRoot&) = delete;
    FakeRoot& operator=(const FakeRoot&) = delete;
    Snapshot capture() const { return capture_machine({.root = folder_}); }

  private:
    std::filesystem::path folder_;
};

constexpr const char* kUnknownProcessor =
    "processor : 0\nvendor_id : HygonMade\ncpu family : 99\nmodel : 1\n"
    "model name : A Chip of Tomorrow\nflags : fpu sse2 avx2 fma\n\n"
    "processor : 1\nvendor_id : HygonMade\ncpu family : 99\nmodel : 1\n";

} // namespace

TEST_CASE("a container without /sys and without GPU tools", "[machine]") {
    const FakeRoot root({{"/proc/cpuinfo", kUnknownProcessor}, {"/proc/meminfo", "MemTotal: 4194304 kB\n"}});
    const Snapshot seen = root.capture();
    CHECK(seen.texts.size() == 2); // nothing of the machine that runs the test
    const ThisMachine machine = describe_machine(seen, shipped());
    REQUIRE(machine.entries.size() == 1); // no GPU is invented
    const MachineEntry& entry = machine.entries.front();
    CHECK(entry.title == "A Chip of Tomorrow");
    CHECK(entry.matched.empty());
    CHECK(fact(entry, "cores").value == "2");
    CHECK(fact(entry, "memory").value == "4 GiB");
    CHECK(fact(entry, "L1 of a core").origin == Origin::assumed);
    CHECK(fact(entry, "clock, all cores busy").origin == Origin::assumed);
    // 256-bit vectors are seen in the flags: 8 lanes x 2 pipes x 2 operations.
    CHECK(fact(entry, "fp32 operations per clock and core").value == "32");
    CHECK(describe_machine(FakeRoot({}).capture(), shipped()).entries.front().matched.empty());
}

TEST_CASE("files of /sys say caches, limits and cards", "[machine]") {
    const std::string cpu = "/sys/devices/system/cpu/cpu0/cache/";
    const FakeRoot root({{"/proc/cpuinfo", kUnknownProcessor},
                         {cpu + "index0/level", "1\n"},
                         {cpu + "index0/type", "Data\n"},
                         {cpu + "index0/size", "48K\n"},
                         {cpu + "index1/level", "1\n"},
                         {cpu + "index1/type", "Instruction\n"},
                         {cpu + "index1/size", "64K\n"},
                         {cpu + "index2/level", "2\n"},
                         {cpu + "index2/type", "Unified\n"},
                         {cpu + "index2/size", "2048K\n"},
                         {"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "4000000\n"},
                         {"/sys/fs/cgroup/cpu.max", "100000 100000\n"},
                         {"/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n"},
                         {"/sys/bus/pci/devices/0000:01:00.0/device", "0x2330\n"},
                         {"/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n"},
                         {"/sys/bus/pci/devices/0000:02:00.0/vendor", "0x1af4\n"},
                         {"/sys/bus/pci/devices/0000:02:00.0/device", "0x1000\n"},
                         {"/sys/bus/pci/devices/0000:02:00.0/class", "0x020000\n"}});
    const ThisMachine machine = describe_machine(root.capture(), shipped());
    const MachineEntry& entry = machine.entries.front();
    CHECK(fact(entry, "cores").value == "1"); // a quota of one processor
    CHECK(fact(entry, "L1 of a core").value == "48 KiB");
    CHECK(fact(entry, "L2 of a core").value == "2048 KiB");
    CHECK(fact(entry, "clock, highest").value == "4.00 GHz");
    CHECK(fact(entry, "clock, highest").origin == Origin::detected);
    REQUIRE(machine.entries.size() == 2); // the network card is none
    CHECK(machine.entries[1].matched == "H100");
}
