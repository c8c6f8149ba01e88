#pragma once
// A sized layout of vLLM as a manifest of Kubernetes.

#include <cstdint>
#include <string>
#include <vector>

namespace archsim {

/// What a manifest starts.
struct ManifestOf {
    std::string model;               ///< names the objects
    std::vector<std::string> engine; ///< "vllm", "serve", the checkpoint and flags
    std::string resource;            ///< what the vendor's device plugin calls a device
    std::int64_t engines = 1;        ///< beside each other, behind one service
    std::int64_t nodes = 1;          ///< of one engine: its stages
    std::int64_t node_devices = 1;
};

/// A Deployment with an engine per replica, or a LeaderWorkerSet where an engine takes several nodes, and the
/// Service before them. A field that is not in manifest_fields() cannot be written.
std::string manifest(const ManifestOf& of);

} // namespace archsim
