// Reads the machine at hand into a Snapshot, and a Snapshot from its text. Nothing here interprets what it
// reads.

#include "machine/snapshot.hpp"

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/text_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

extern char** environ;

namespace archsim {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "== ";
constexpr std::size_t kLongestText = 1U << 20;

constexpr std::array kFiles = {
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/device-tree/model",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/cpu0/cpufreq/base_frequency",
    "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/class/dmi/id/product_name",
    // Limits of a container: version 2 of control groups, then version 1.
    "/sys/fs/cgroup/cpu.max",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
};

std::optional<std::string> read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return std::nullopt;
    std::string text;
    std::array<char, 4096> part{};
    while (text.size() < kLongestText && (file.read(part.data(), part.size()) || file.gcount() > 0))
        text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    return text;
}

/// The files of a machine under a root; sources are named as they are under /.
class Files {
  public:
    explicit Files(fs::path root) : root_(std::move(root)) {}

    fs::path at(const fs::path& path) const { return root_ / path.relative_path(); }
    void add(const fs::path& path, Snapshot& out) const {
        if (auto text = read_text(at(path)))
            out.texts[path.string()] = std::move(*text);
    }

  private:
    fs::path root_;
};

/// Names of a folder's entries, sorted; none when it cannot be read.
std::vector<std::string> names_in(const fs::path& folder) {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        names.push_back(at->path().filename().string());
    std::ranges::sort(names);
    return names;
}

void add_caches(const Files& files, Snapshot& out) {
    const fs::path cpus = "/sys/devices/system/cpu";
    for (const std::string& name : names_in(files.at(cpus))) {
        if (!name.starts_with("cpu") || name.find_first_not_of("0123456789", 3) != std::string::npos)
            continue;
        const fs::path caches = cpus / name / "cache";
        for (const std::string& index : names_in(files.at(caches)))
            for (const char* what : {"level", "type", "size", "shared_cpu_list"})
                files.add(caches / index / what, out);
    }
}

/// Display controllers and processing accelerators: "vendor device class" a line.
void add_pci(const Files& files, Snapshot& out) {
    constexpr std::string_view kDisplay = "0x03", kAccelerator = "0x12";
    const fs::path bus = "/sys/bus/pci/devices";
    std::string lines;
    for (const std::string& name : names_in(files.at(bus))) {
        const fs::path device = bus / name;
        Snapshot one;
        for (const char* what : {"vendor", "device", "class"})
            files.add(device / what, one);
        const std::string_view kind = one.text((device / "class").string());
        if (kind.starts_with(kDisplay) || kind.starts_with(kAccelerator))
            lines += fmt::format("{} {} {}\n", one.text((device / "vendor").string()),
                                 one.text((device / "device").string()), kind);
    }
    if (!lines.empty())
        out.texts["pci"] = lines;
}

/// "LEAF SUBLEAF EAX EBX ECX EDX" a line, in hexadecimal digits.
void add_identification([[maybe_unused]] Snapshot& out) {
#if defined(__x86_64__) || defined(__i386__)
    struct Leaf {
        unsigned leaf, subleaves;
    };
    // Identity, features, caches (Intel, AMD), topology, clocks, the hypervisor's name, the brand.
    static constexpr std::array kLeaves = {Leaf{0, 1},          Leaf{1, 1},          Leaf{4, 8},
                                           Leaf{7, 2},          Leaf{0xB, 3},        Leaf{0x16, 1},
                                           Leaf{0x80000002, 1}, Leaf{0x80000003, 1}, Leaf{0x80000004, 1},
                                           Leaf{0x80000008, 1}, Leaf{0x8000001D, 8}, Leaf{0x8000001E, 1}};
    std::string lines;
    const auto add = [&](unsigned leaf, unsigned subleaf) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        __cpuid_count(leaf, subleaf, a, b, c, d);
        lines += fmt::format("{:08x} {:x} {:08x} {:08x} {:08x} {:08x}\n", leaf, subleaf, a, b, c, d);
    };
    for (const Leaf& wanted : kLeaves)
        if (static_cast<unsigned>(__get_cpuid_max(wanted.leaf & 0x80000000U, nullptr)) >= wanted.leaf)
            for (unsigned sub = 0; sub < wanted.subleaves; ++sub)
                add(wanted.leaf, sub);
    constexpr unsigned kHypervisorLeaf = 0x40000000;
    add(kHypervisorLeaf, 0);
    out.texts["cpuid"] = lines;
#endif
}

/// Standard output of a program; nothing when it is not installed, fails, or does not end in time.
std::optional<std::string> output_of(std::vector<std::string> arguments, double seconds) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0)
        return std::nullopt;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::vector<char*> argv = mapped(arguments, [&](std::string& argument) { return argument.data(); });
    argv.push_back(nullptr);
    pid_t child = 0;
    const bool started = posix_spawnp(&child, argv.front(), &actions, nullptr, argv.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    bool complete = false;
    using Steady = std::chrono::steady_clock;
    const auto deadline = Steady::now() + std::chrono::duration<double>(seconds);
    while (started && text.size() < kLongestText) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
        pollfd ready{ends[0], POLLIN, 0};
        if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) <= 0)
            break;
        std::array<char, 4096> part{};
        const ssize_t got = read(ends[0], part.data(), part.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            complete = got == 0;
            break;
        }
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    close(ends[0]);
    if (!started)
        return std::nullopt;
    if (!complete)
        kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    const bool ok = complete && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return ok ? std::optional(std::move(text)) : std::nullopt;
}

void add_tool(const char* name, std::vector<std::string> arguments, double seconds, Snapshot& out) {
    if (auto text = output_of(std::move(arguments), seconds))
        out.texts[name] = std::move(*text);
}

} // namespace

Snapshot capture_machine(const CaptureOptions& options) {
    Snapshot out;
    const Files files(options.root);
    for (const char* file : kFiles)
        files.add(file, out);
    add_caches(files, out);
    add_pci(files, out);
    if (options.root != "/")
        return out;
    add_identification(out);
    if (const long cpus = sysconf(_SC_NPROCESSORS_ONLN); cpus > 0)
        out.texts["processors"] = fmt::format("{}\n", cpus);
    if (auto status = read_text("/proc/self/status"))
        if (const auto at = status->find("Cpus_allowed_list:"); at != std::string::npos)
            out.texts["allowed"] = status->substr(at, status->find('\n', at) - at) + "\n";
    add_tool("nvidia-smi",
             {"nvidia-smi", "--format=csv,noheader,nounits",
              "--query-gpu=name,memory.total,clocks.max.sm,clocks.max.memory,power.limit,mig.mode.current"},
             options.tool_seconds, out);
    add_tool("rocm-smi", {"rocm-smi", "--showproductname", "--showmeminfo", "vram", "--csv"},
             options.tool_seconds, out);
    return out;
}

std::string_view Snapshot::text(std::string_view source) const {
    const auto found = texts.find(source);
    if (found == texts.end())
        return {};
    const std::string_view all = found->second;
    const auto first = all.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos)
        return {};
    // The device tree ends its strings with a zero.
    const auto last = all.find_last_not_of(std::string_view(" \t\r\n\0", 5));
    return last == std::string_view::npos || last < first ? std::string_view{}
                                                          : all.substr(first, last - first + 1);
}

std::string to_text(const Snapshot& snapshot) {
    std::string out;
    for (const auto& [source, text] : snapshot.texts) {
        out += fmt::format("{}{}\n{}", kMark, source, text);
        if (!text.empty() && text.back() != '\n')
            out += '\n';
    }
    return out;
}

Snapshot parse_snapshot(std::string_view text, std::string_view name) {
    Snapshot snapshot;
    std::string* current = nullptr;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.starts_with(kMark))
            current = &snapshot.texts[std::string(line.substr(kMark.size()))];
        else if (current != nullptr)
            current->append(line).push_back('\n');
        else
            break;
    }
    if (snapshot.texts.empty())
        throw InputError(
            fmt::format("{}: this is no description of a machine; write one with list_hardware_mappers "
                        "--this-machine --save-snapshot FILE",
                        name));
    return snapshot;
}

Snapshot read_snapshot(const std::filesystem::path& file) {
    return parse_snapshot(read_text_file(file), file.string());
}

} // namespace archsim
