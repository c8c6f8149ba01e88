#pragma once
// The hardware database: a folder of JSON files, read lazily. Opening lists file names only; a device is
// parsed when asked for. Overlays (a user's folder or file) take precedence.

#include "archsim/core/export.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/hardware/device.hpp"
#include "archsim/hardware/runtime.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

struct StatedFact;
struct SourceCounts;

/// A named set of devices that compete for one use.
struct Deployment {
    std::string id, title, description;
    std::vector<std::string> hardware; ///< "NAME" or "NAME@MODE"
};

/// Power mode that every device has: the clock of least energy per inference, static and host power included.
/// Vendors publish efficiency results under this name without saying the clock.
inline constexpr std::string_view kEfficientMode = "MaxQ";

/// A device and one of its power modes.
struct DeviceChoice {
    std::shared_ptr<const Device> device;
    std::string power_mode; ///< empty when the device has no modes
    double devices = 1;     ///< how many of it the name speaks of: 8 of "8xH100"
    std::string one;        ///< "H100" of "8xH100"; empty where the name speaks of one
};

/// Which values a database gives for numbers that state another one "before" measurements were looked at:
/// the shipped ones, those before on devices only, or those before on devices and software stacks.
enum class TunedFacts : std::uint8_t { as_stated, devices_reverted, reverted };

/// Devices, software stacks and deployments, read from their files on first use.
/// @code
/// const Session session;
/// const DeviceChoice choice = session.hardware().device("jetson-orin-nano@15W");
/// assert(choice.device->id == "Jetson-Orin-Nano" && choice.power_mode == "15W");
/// @endcode
class HardwareDatabase {
  public:
    /// Opens `root` (hardware_db/) and any overlays; throws InputError when root is not readable. Copies
    /// share what was read.
    ARCHSIM_API explicit HardwareDatabase(std::filesystem::path root,
                                          std::vector<std::filesystem::path> overlays = {},
                                          TunedFacts tuned = TunedFacts::as_stated);

    /// Resolves "NAME", "NAME@MODE" (a mode of the device, kEfficientMode, a power limit as "350W" where
    /// the device has no modes of its own, or a size of memory as "24GB" where it shares that of its
    /// computer) or a path to a JSON file; case-insensitive, aliases too, and names with words around them:
    /// "Mac mini M4 Pro (24 GB)" is Apple-M4-Pro-GPU@24GB, "RTX 4070 laptop, 32GB" RTX-4070-Laptop; "COMPUTER
    /// + NAME" is the device in a computer of the database, "8xH100" eight of one. Throws InputError with the
    /// nearest names. Safe to call from several threads.
    ARCHSIM_API DeviceChoice device(std::string_view name) const;
    /// A software stack by name or alias. Throws InputError with the nearest names.
    ARCHSIM_API std::shared_ptr<const Runtime> runtime(std::string_view name) const;
    /// The device's default runtime, or `name` after checking that it serves the device.
    ARCHSIM_API std::shared_ptr<const Runtime> runtime_for(const Device& device,
                                                           std::string_view name = {}) const;
    /// All deployments, in the order of their file.
    ARCHSIM_API std::vector<Deployment> deployments() const;
    /// One deployment by id. Throws InputError with the nearest names.
    ARCHSIM_API Deployment deployment(std::string_view id) const;

    /// Every number of a device's file (with what it extends) and of a software stack's, by JSON pointer.
    std::vector<StatedFact> device_facts(std::string_view name) const;
    /// How many numbers each kind of source stands behind in the file of a device: what count_sources() makes
    /// of device_facts(), counted while the device was read.
    SourceCounts device_sources(const Device& device) const;
    /// Every number of a software stack's file, as device_facts() of a device's.
    std::vector<StatedFact> runtime_facts(std::string_view name) const;

    /// Names of all devices, sorted by family, then by name.
    ARCHSIM_API std::vector<std::string> device_ids() const;
    /// Names of all software stacks, sorted.
    ARCHSIM_API std::vector<std::string> runtime_ids() const;
    /// Every device that can be read; problems are appended to `findings`.
    ARCHSIM_API std::vector<std::shared_ptr<const Device>> all_devices(std::vector<Finding>& findings) const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

/// Schema and sanity lints of one file or folder: units, ranges, peak = units x rate x clock, sources,
/// aliases, unknown keys (with the nearest known), cycles in "extends". Empty when clean.
ARCHSIM_API std::vector<Finding> check_hardware(const std::filesystem::path& file_or_folder);

} // namespace archsim
