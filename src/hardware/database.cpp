#include "archsim/hardware/database.hpp"

#include "core/embedded_files.hpp"
#include "core/in_parallel.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "hardware/device_files.hpp"
#include "hardware/device_reader.hpp"
#include "hardware/limit_mode.hpp"
#include "hardware/made_entry.hpp"
#include "hardware/schema_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace archsim {

namespace fs = std::filesystem;

/// Threads that read all devices; more only wait for the file system.
constexpr std::size_t kMaxReaders = 4;

/// "Raspberry Pi 5 + Hailo-8L": a computer, and the device in it that does the work.
constexpr std::string_view kBeside = " + ";

static std::shared_ptr<const Device> in_computer(const Device& device, const std::string& host) {
    auto inside = std::make_shared<Device>(device);
    inside->host = host;
    inside->in_computer = true;
    return inside;
}

/// Among `known`, or, where none of these is near, among `others`.
[[noreturn]] static void unknown_name(std::string_view what, std::string_view name,
                                      const std::vector<std::string>& known,
                                      const std::vector<std::string>& others = {}) {
    auto nearest = nearest_names(name, known);
    if (nearest.empty())
        nearest = nearest_names(name, others);
    Finding finding{.kind = FindingKind::unknown_name,
                    .message = fmt::format("no {} is called \"{}\"", what, name)};
    constexpr std::size_t kFew = 8; // as many as a line can name
    // A name of many, "MacBook", is a part of more names than those that are shown.
    const auto holding = [&](const std::vector<std::string>& names) {
        return static_cast<std::size_t>(std::ranges::count_if(
            names, [&](const auto& one) { return name_key(one).find(name_key(name)) != std::string::npos; }));
    };
    const std::size_t all = holding(known) + holding(others);
    finding.hint = !nearest.empty()
                       ? fmt::format("is {} meant{}?", either_of(nearest),
                                     all > nearest.size()
                                         ? fmt::format(", or another of {} names with \"{}\"", all, name)
                                         : "")
                   : known.size() > kFew ? fmt::format("list_hardware_mappers shows every {}", what)
                                         : fmt::format("give {}", either_of(known));
    if (what == "device")
        finding.hint += "; a part that is missing can be described in a JSON file, --hardware PART.json: see "
                        "docs/adding_a_device.md";
    throw InputError(finding);
}

[[noreturn]] static void unusable(std::string_view what, std::string_view name,
                                  std::vector<Finding> findings) {
    const auto first = std::ranges::find_if(findings, &Finding::is_error);
    std::string message = fmt::format("the {} {} cannot be used: {}", what, name,
                                      first == findings.end() ? std::string("no reason") : to_string(*first));
    const auto others = std::ranges::count_if(findings, &Finding::is_error) - 1;
    if (others > 0)
        message += fmt::format(" (and {} more: see list_hardware_mappers --check)", others);
    throw InputError(message, std::move(findings));
}

/// "gpu" of "GPU"; empty where no family is called so.
static std::string family_called(std::string_view name) {
    for (const std::string& family : family_names())
        if (name_key(family) == name_key(name))
            return family;
    return "";
}

constexpr std::string_view kJsonEnding = ".json";

/// "GPU" of "Snapdragon 8 Elite GPU": the unit of a chip that its name ends with; empty where none is named.
static std::string_view unit_named(std::string_view name) {
    const std::string_view last = name.substr(std::min(name.rfind(' ') + 1, name.size()));
    const bool unit = std::ranges::any_of(std::array{"cpu", "gpu", "npu"}, [&](std::string_view each) {
        return same_ignoring_case(last, each);
    });
    return unit ? last : std::string_view();
}

/// Whether people call a device of a family so: what is neither processor nor GPU is an NPU.
static bool is_unit(const FamilyRow& family, std::string_view unit) {
    const bool gpu = same_ignoring_case(unit, "gpu");
    return unit.empty() ||
           (same_ignoring_case(unit, "cpu") ? family.is_host
                                            : !family.is_host && (family.name == "gpu") == gpu);
}

static bool is_file(std::string_view name) {
    return name.ends_with(kJsonEnding) && is_text_file(fs::path(name));
}

struct HardwareDatabase::State {
    State(DatabaseIndex index, TunedFacts tuned) : files(std::move(index), tuned) {}

    DeviceFiles files;
    mutable std::mutex mutex;
    struct ReadDevice {
        std::shared_ptr<const Device> device;
        SourceCounts sources; ///< of the numbers that its file and what it extends state
    };
    std::map<std::string, ReadDevice, std::less<>> devices;         ///< by file
    std::map<std::string, std::shared_ptr<const Runtime>> runtimes; ///< by file
    std::optional<std::vector<Deployment>> deployments;

    /// The faults of a file that is not the database's own: what reading it found, and numbers that
    /// contradict each other.
    static std::vector<Finding> own_findings(const DatabaseEntry& entry, const Device& device) {
        if (entry.text != nullptr || entry.layer == 0)
            return {};
        std::vector<Finding> all = device.findings;
        for (Finding& finding : lint_device(device, device.findings))
            all.push_back(std::move(finding));
        return all;
    }

    std::shared_ptr<const Device> device(const DatabaseEntry& entry, std::vector<Finding>& findings) {
        {
            const std::lock_guard lock(mutex);
            if (const auto found = devices.find(entry.file); found != devices.end()) {
                const auto& known = found->second.device->findings;
                findings.insert(findings.end(), known.begin(), known.end());
                return found->second.device;
            }
        }
        SourceCounts sources;
        auto read = files.load(entry, findings, sources);
        if (read == nullptr)
            return nullptr;
        if (auto own = own_findings(entry, *read); !own.empty()) {
            auto copy = std::make_shared<Device>(*read);
            copy->findings = std::move(own);
            read = std::move(copy);
        }
        const std::lock_guard lock(mutex);
        return devices.emplace(entry.file, ReadDevice{std::move(read), sources}).first->second.device;
    }

    std::shared_ptr<const Runtime> runtime(const DatabaseEntry& entry, std::vector<Finding>& findings) {
        const std::lock_guard lock(mutex);
        if (const auto found = runtimes.find(entry.file); found != runtimes.end())
            return found->second;
        const auto document = files.runtime_document(entry, findings);
        auto read = document ? read_runtime(document->root, entry.file, findings) : nullptr;
        if (read != nullptr)
            runtimes.emplace(entry.file, read);
        return read;
    }

    /// The stack whose id this is; null when there is none.
    std::shared_ptr<const Runtime> runtime_of_id(std::string_view name) {
        const auto& table = files.index().runtimes;
        const auto found = table.find(name_key(name));
        if (found == table.end())
            return nullptr;
        std::vector<Finding> findings;
        auto read = runtime(found->second.back(), findings);
        if (read == nullptr)
            unusable("software stack", name, std::move(findings));
        return read;
    }

    /// The stacks with that alias. Reads every stack: ask for the id first.
    std::vector<std::shared_ptr<const Runtime>> runtimes_with_alias(std::string_view name) {
        const std::string key = name_key(name);
        std::vector<std::shared_ptr<const Runtime>> called;
        std::vector<Finding> ignored;
        for (const auto& [id, entries] : files.index().runtimes) {
            const auto read = runtime(entries.back(), ignored);
            if (read != nullptr && std::ranges::any_of(read->aliases, [&](const std::string& alias) {
                    return name_key(alias) == key;
                }))
                called.push_back(read);
        }
        return called;
    }

    /// The entry that is made under this name, made once per database; null when there is none.
    std::optional<DatabaseEntry> find_made(std::string_view name, const HardwareDatabase& asked) {
        const std::optional<MadeEntry> known = find_made_entry(name);
        if (!known)
            return std::nullopt;
        const std::lock_guard lock(made_mutex);
        auto& text = made[known->id];
        if (!text)
            text = std::make_shared<const std::string>(known->make(asked));
        return DatabaseEntry{known->id, known->id, std::nullopt, std::numeric_limits<std::size_t>::max(),
                             text};
    }
    std::mutex made_mutex; ///< another one than `mutex`: making an entry asks the database for its devices
    std::map<std::string, std::shared_ptr<const std::string>> made;

    /// A device file anywhere, or an entry of the database by a name that means one of them alone.
    std::optional<DatabaseEntry> find(std::string_view name, const HardwareDatabase& asked) {
        if (is_file(name))
            return DatabaseEntry{read_device_head(std::string(name)).id, std::string(name), std::nullopt,
                                 std::numeric_limits<std::size_t>::max(), nullptr};
        const DatabaseEntry* entry = files.find(name);
        if (entry == nullptr)
            entry = find_without_punctuation(name);
        return entry == nullptr ? find_made(name, asked) : std::optional(*entry);
    }

    /// Leaves the entries whose unit is the one that the name ends with. Throws InputError where none is.
    void keep_of_kind(std::string_view name, std::string_view kind,
                      std::vector<const DatabaseEntry*>& entries) {
        const std::vector<const DatabaseEntry*> all = entries;
        std::erase_if(entries, [&](const DatabaseEntry* entry) {
            std::vector<Finding> findings;
            const std::shared_ptr<const Device> found = device(*entry, findings);
            return found != nullptr && !is_unit(found->family.row(), kind);
        });
        if (!entries.empty())
            return;
        std::vector<Finding> findings;
        throw InputError(
            Finding{.kind = FindingKind::unknown_name,
                    .message = fmt::format("unknown device \"{}\"; what has that name is {} ({})", name,
                                           all.front()->id, title_of(device(*all.front(), findings)->family)),
                    .hint = "list_hardware_mappers shows all devices"});
    }

    struct Found {
        DatabaseEntry entry;
        std::optional<StatedMemory> memory; ///< where the name states a size
    };
    /// The same, and names with words around what the database knows: "RTX 4070 laptop, 32GB". Throws
    /// InputError where they mean several devices.
    std::optional<Found> find_called(std::string_view name, const HardwareDatabase& asked) {
        if (auto entry = find(name, asked))
            return Found{*std::move(entry), std::nullopt};
        if (name.ends_with(kJsonEnding))
            return std::nullopt;
        const std::string_view kind = unit_named(name);
        DeviceFiles::Loosely loosely = files.find_loosely(name);
        if (loosely.entries.empty() && !kind.empty())
            loosely = files.find_loosely(name.substr(0, name.size() - kind.size()));
        if (loosely.entries.empty())
            return std::nullopt;
        keep_of_kind(name, kind, loosely.entries);
        if (loosely.entries.size() == 1)
            return Found{*loosely.entries.front(), loosely.memory};
        std::vector<std::string> ids =
            mapped(loosely.entries, [&](const DatabaseEntry* entry) { return entry->id; });
        // "Intel Core Ultra 7 155H": what follows the vendor is a name of one of them.
        if (const std::size_t space = name.find(' '); space != std::string_view::npos)
            if (auto entry = find(name.substr(space + 1), asked); entry && contains(ids, entry->id))
                return Found{*std::move(entry), loosely.memory};
        throw InputError(Finding{.kind = FindingKind::unknown_name,
                                 .message = fmt::format("\"{}\" may be one of {} devices", name, ids.size()),
                                 .hint = fmt::format("name {}", either_of(ids))});
    }

    /// "h-100", "RTX4090": the one device whose id has these letters and digits.
    const DatabaseEntry* find_without_punctuation(std::string_view name) const {
        const std::string bare = bare_name(name);
        const DatabaseEntry* only = nullptr;
        for (const auto& [key, entries] : files.index().devices) {
            if (bare_name(key) != bare)
                continue;
            if (only != nullptr)
                return nullptr;
            only = &entries.back();
        }
        return only;
    }
};

/// "8xH100", "2x 3090", "4 x A100": how many, and of what; nothing where the name says no number.
static std::optional<std::pair<unsigned, std::string_view>> several_of(std::string_view name) {
    const auto after_blanks = [](std::string_view text) {
        return text.substr(std::min(text.find_first_not_of(' '), text.size()));
    };
    const auto count = take_number<unsigned>(name);
    name = after_blanks(name);
    if (!count || *count == 0 || name.empty() || (name.front() != 'x' && name.front() != 'X'))
        return std::nullopt;
    name = after_blanks(name.substr(1));
    return name.empty() ? std::nullopt : std::optional(std::pair(*count, name));
}

HardwareDatabase::HardwareDatabase(fs::path root, std::vector<fs::path> overlays, TunedFacts tuned)
    : state_(std::make_shared<State>(list_database(root, overlays), tuned)) {}

DeviceChoice HardwareDatabase::device(std::string_view name) const {
    std::optional<State::Found> found;
    std::string_view mode;
    const std::string_view asked = name;
    // The id of "ID@MODE" is known without a look into every file for an alias of that spelling.
    const auto at = name.rfind('@');
    const bool splits = at != std::string_view::npos && !is_file(name) && !state_->files.find_id(name) &&
                        state_->files.find_id(name.substr(0, at));
    if (!splits) {
        if (at == std::string_view::npos)
            found = state_->find_called(name, *this);
        else if (auto entry = state_->find(name, *this))
            found = State::Found{*std::move(entry), std::nullopt};
    }
    if (!found && at != std::string_view::npos) {
        mode = name.substr(at + 1);
        name = name.substr(0, at);
        found = state_->find_called(name, *this);
    }
    const std::size_t joint = asked.find(kBeside);
    if (!found && joint != std::string_view::npos) {
        DeviceChoice choice = device(asked.substr(joint + kBeside.size()));
        const std::shared_ptr<const Device> host = device(asked.substr(0, joint)).device;
        if (host->host_link_type != "" && host->host_link_type != "shared memory")
            throw InputError(Finding{.kind = FindingKind::unknown_name,
                                     .message = fmt::format("\"{}\": {} is no computer that {} could be in",
                                                            asked, host->id, choice.device->id),
                                     .hint = "ask for each device by itself"});
        choice.device = in_computer(*choice.device, host->id);
        return choice;
    }
    if (!found) {
        if (name.ends_with(kJsonEnding)) {
            throw InputError(Finding{.kind = FindingKind::unreadable_file,
                                     .message = "there is no such device file",
                                     .file = std::string(name),
                                     .hint = "check the path"});
        }
        if (const std::string family = family_called(name); !family.empty()) {
            throw InputError(
                Finding{.kind = FindingKind::unknown_name,
                        .message = fmt::format("\"{}\" is a family of devices, not a device", name),
                        .hint = fmt::format(
                            "list_hardware_mappers --category {} shows them, compare_architectures compares "
                            "families",
                            family)});
        }
        if (const auto several = several_of(asked)) {
            DeviceChoice choice = device(several->second);
            choice.devices *= several->first;
            choice.one = choice.one.empty() ? std::string(several->second) : choice.one;
            return choice;
        }
        unknown_name("device", name, device_ids(), state_->files.other_names());
    }
    std::vector<Finding> findings;
    DeviceChoice choice{.device = state_->device(found->entry, findings)};
    if (choice.device == nullptr)
        unusable("device", name, std::move(findings));
    if (found->memory)
        if (auto sized = with_memory(*choice.device, *found->memory))
            choice.device = std::move(sized);
    if (joint != std::string_view::npos)
        choice.device = in_computer(*choice.device, choice.device->host);
    const Device& device = *choice.device;
    if (!mode.empty()) {
        const PowerMode* stated = device.power_mode(mode);
        if (stated == nullptr && same_ignoring_case(mode, kEfficientMode)) {
            choice.power_mode = kEfficientMode;
            return choice;
        }
        auto held = stated == nullptr ? slice_of(device, mode) : nullptr;
        if (held == nullptr && stated == nullptr)
            held = held_to(device, mode);
        if (held != nullptr) {
            choice.power_mode = held->power_modes.front().name;
            choice.device = std::move(held);
            return choice;
        }
        if (const auto size = stated == nullptr ? gigabytes_of(mode) : std::nullopt) {
            const auto sized = with_memory(device, {*size, false});
            if (sized != nullptr) {
                choice.power_mode = sized->power_modes.front().name;
                choice.device = sized;
            }
            return choice;
        }
        if (stated == nullptr) {
            std::vector<std::string> known = mapped(device.power_modes, &PowerMode::name);
            for (const DeviceSlice& slice : device.slices)
                known.push_back(slice.name);
            throw InputError(Finding{
                .kind = FindingKind::unknown_name,
                .message = fmt::format("{} has no power mode \"{}\"", device.id, mode),
                .hint = known.empty()
                            ? fmt::format("it has none: write {0}, {0}@MaxQ, or a power limit as in {0}@200W",
                                          device.id)
                            : fmt::format("use {}", either_of(known))});
        }
        choice.power_mode = stated->name;
    } else if (!device.power_modes.empty()) {
        const PowerMode* standard = device.power_mode(device.default_power_mode);
        choice.power_mode = standard != nullptr ? standard->name : device.power_modes.front().name;
    }
    return choice;
}

std::shared_ptr<const Runtime> HardwareDatabase::runtime(std::string_view name) const {
    if (auto own = state_->runtime_of_id(name))
        return own;
    const auto called = state_->runtimes_with_alias(name);
    if (called.empty())
        unknown_name("software stack", name, runtime_ids());
    return called.front();
}

std::shared_ptr<const Runtime> HardwareDatabase::runtime_for(const Device& device,
                                                             std::string_view name) const {
    if (!name.empty()) {
        const auto own = state_->runtime_of_id(name);
        if (own != nullptr && own->serves(device))
            return own;
        // One name may stand for a stack on each kind of processor ("pytorch-compile").
        const auto others = state_->runtimes_with_alias(name);
        for (const auto& other : others)
            if (other->serves(device))
                return other;
        if (own == nullptr && others.empty())
            unknown_name("software stack", name, runtime_ids());
        throw InputError(Finding{
            .kind = FindingKind::unsupported,
            .message =
                fmt::format("{} does not run on {}", (own != nullptr ? own : others.front())->id, device.id),
            .hint = device.runtimes.empty() ? fmt::format("name a stack for {}", title_of(device.family))
                                            : fmt::format("leave --runtime out for the one that is usual "
                                                          "for the network; {} has {}",
                                                          device.id, fmt::join(device.runtimes, ", "))});
    }
    if (!device.default_runtime.empty())
        return runtime(device.default_runtime);
    if (!device.runtimes.empty())
        return runtime(device.runtimes.front());
    throw InputError(
        Finding{.kind = FindingKind::missing_field,
                .message = fmt::format("{} names no software stack", device.id),
                .file = device.file,
                .where = "/default_runtime",
                .hint = R"(add "runtimes" and "default_runtime", or choose one with --runtime)"});
}

std::vector<StatedFact> HardwareDatabase::device_facts(std::string_view name) const {
    const auto found = state_->find_called(name.substr(0, name.rfind('@')), *this);
    if (!found)
        unknown_name("device", name, device_ids());
    std::vector<Finding> findings;
    const auto document = state_->files.document(found->entry, findings);
    if (!document)
        unusable("device", name, std::move(findings));
    return stated_facts(document->root);
}

SourceCounts HardwareDatabase::device_sources(const Device& device) const {
    {
        const std::lock_guard lock(state_->mutex);
        if (const auto found = state_->devices.find(device.file); found != state_->devices.end())
            return found->second.sources;
    }
    return count_sources(device_facts(device.file));
}

std::vector<StatedFact> HardwareDatabase::runtime_facts(std::string_view name) const {
    std::vector<Finding> findings;
    const std::shared_ptr<const Runtime> read = runtime(name);
    const auto document = state_->files.runtime_document({read->id, read->file}, findings);
    if (!document)
        unusable("software stack", name, std::move(findings));
    return stated_facts(document->root);
}

std::vector<Deployment> HardwareDatabase::deployments() const {
    const std::lock_guard lock(state_->mutex);
    if (state_->deployments)
        return *state_->deployments;
    std::vector<Deployment> all;
    std::vector<Finding> findings;
    for (const std::string& file : state_->files.index().deployment_files) {
        const auto document = parse_document(file, findings);
        if (!document)
            continue;
        for (Deployment& deployment : read_deployments(document->root, file, findings)) {
            std::erase_if(all, [&](const Deployment& other) { return other.id == deployment.id; });
            all.push_back(std::move(deployment));
        }
    }
    if (std::ranges::any_of(findings, &Finding::is_error))
        unusable("list of", "deployments", std::move(findings));
    state_->deployments = all;
    return all;
}

Deployment HardwareDatabase::deployment(std::string_view id) const {
    if (const auto comma = id.find(','); comma != std::string_view::npos) { // several, each device once
        Deployment all = deployment(id.substr(0, comma));
        const Deployment rest = deployment(id.substr(comma + 1));
        all.id += "," + rest.id;
        all.title += ", " + rest.title;
        all.description += "; " + rest.description;
        for (const std::string& name : rest.hardware)
            if (!contains(all.hardware, name))
                all.hardware.push_back(name);
        return all;
    }
    std::vector<std::string> known;
    for (Deployment& candidate : deployments()) {
        if (name_key(candidate.id) == name_key(id))
            return std::move(candidate);
        known.push_back(candidate.id);
    }
    unknown_name("deployment", id, known);
}

std::vector<std::string> HardwareDatabase::device_ids() const {
    std::vector<std::pair<std::size_t, std::string>> rows;
    for (const auto& [key, entries] : state_->files.index().devices) {
        std::optional<Family> family = entries.back().family;
        if (!family)
            family = parse_family(read_device_head(entries.back().file).family);
        // A refinement of a device of the same id keeps its place.
        for (const DatabaseEntry& entry : entries)
            if (!family)
                family = entry.family;
        rows.emplace_back(family.value_or(Family{}).index(), entries.back().id);
    }
    std::ranges::sort(rows);
    std::vector<std::string> ids;
    for (auto& [family, id] : rows)
        ids.push_back(std::move(id));
    return ids;
}

std::vector<std::string> HardwareDatabase::runtime_ids() const {
    std::vector<std::string> ids;
    for (const auto& [key, entries] : state_->files.index().runtimes)
        ids.push_back(entries.back().id);
    return ids;
}

std::vector<std::shared_ptr<const Device>>
HardwareDatabase::all_devices(std::vector<Finding>& findings) const {
    const std::vector<std::string> ids = device_ids();
    std::vector<std::shared_ptr<const Device>> read(ids.size());
    std::vector<std::vector<Finding>> problems(ids.size());
    in_parallel(ids.size(), std::min(all_threads(), kMaxReaders),
                [&](std::size_t i) { read[i] = state_->device(*state_->files.find(ids[i]), problems[i]); });
    std::vector<std::shared_ptr<const Device>> devices;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        findings.insert(findings.end(), problems[i].begin(), problems[i].end());
        if (read[i] != nullptr)
            devices.push_back(std::move(read[i]));
    }
    return devices;
}

} // namespace archsim
