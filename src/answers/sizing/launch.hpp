#pragma once
// A sized layout as what starts it: a command of a serving engine, or a manifest of Kubernetes.

#include "answers/sizing/size_service.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

enum class LaunchTarget : std::uint8_t { vllm, sglang, trtllm, kubernetes };

/// The stack of the database for a target; empty: the database has none of that engine.
std::string launch_stack(const Session& session, LaunchTarget target);

/// The command (for Kubernetes the manifest, which runs vLLM; a LeaderWorkerSet where an engine takes several
/// nodes) that starts `device`'s layout of `answer`. Whatever it was sized with is in the command, or is what
/// the engine does by itself, or stands in a comment. `checkpoint`: what the engine loads, such as
/// Qwen/Qwen3-8B. Throws UsageError for a device without a layout, or a target that does not run it.
std::string launch_text(const Session& session, const SizingAnswer& answer, const SizedDevice& device,
                        LaunchTarget target, std::string_view checkpoint);

struct ManifestOf {
    std::string model;               ///< names the objects
    std::vector<std::string> engine; ///< "vllm", "serve", the checkpoint and flags
    std::string resource;            ///< what the vendor's device plugin calls a device
    std::int64_t engines = 1;        ///< beside each other, behind one service
    std::int64_t nodes = 1;          ///< of one engine: its stages
    std::int64_t node_devices = 1;
};

/// A Deployment with an engine per replica, or a LeaderWorkerSet where an engine takes several nodes, and the
/// Service before them.
std::string manifest(const ManifestOf& of);

} // namespace archsim
