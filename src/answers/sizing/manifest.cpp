#include "answers/sizing/launch.hpp"

#include "archsim/core/finding.hpp"
#include "fields/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace archsim {

namespace {

constexpr std::string_view
    kDeploymentFields =
        "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/deployment-v1/",
    kPodFields = "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/",
    kServiceFields = "https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/",
    kSetFields = "https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/";
constexpr std::string_view kDeploymentKind = "Deployment", kServiceKind = "Service",
                           kSetKind = "LeaderWorkerSet", kPodKind = "Pod";

// "[]": items of a list; "{}": keys of one's own.
constexpr std::array kManifestFields = {
    ManifestField{kDeploymentKind, "apiVersion", kDeploymentFields},
    ManifestField{kDeploymentKind, "kind", kDeploymentFields},
    ManifestField{kDeploymentKind, "metadata.name", kDeploymentFields},
    ManifestField{kDeploymentKind, "spec.replicas", kDeploymentFields},
    ManifestField{kDeploymentKind, "spec.selector.matchLabels.{}", kDeploymentFields},
    ManifestField{kServiceKind, "apiVersion", kServiceFields},
    ManifestField{kServiceKind, "kind", kServiceFields},
    ManifestField{kServiceKind, "metadata.name", kServiceFields},
    ManifestField{kServiceKind, "spec.selector.{}", kServiceFields},
    ManifestField{kServiceKind, "spec.ports.[].port", kServiceFields},
    ManifestField{kServiceKind, "spec.ports.[].targetPort", kServiceFields},
    ManifestField{kSetKind, "apiVersion", kSetFields},
    ManifestField{kSetKind, "kind", kSetFields},
    ManifestField{kSetKind, "metadata.name", kSetFields},
    ManifestField{kSetKind, "spec.replicas", kSetFields},
    ManifestField{kSetKind, "spec.leaderWorkerTemplate.size", kSetFields},
    ManifestField{kSetKind, "spec.leaderWorkerTemplate.restartPolicy", kSetFields},
    ManifestField{kPodKind, "metadata.labels.{}", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].name", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].image", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].command.[]", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].args.[]", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].ports.[].containerPort", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].readinessProbe.httpGet.path", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].readinessProbe.httpGet.port", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].resources.limits.{}", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].volumeMounts.[].name", kPodFields},
    ManifestField{kPodKind, "spec.containers.[].volumeMounts.[].mountPath", kPodFields},
    ManifestField{kPodKind, "spec.volumes.[].name", kPodFields},
    ManifestField{kPodKind, "spec.volumes.[].emptyDir.medium", kPodFields},
};

// Where objects hold pods.
constexpr std::array<std::string_view, 3> kPodTemplates = {"spec.template.",
                                                           "spec.leaderWorkerTemplate.leaderTemplate.",
                                                           "spec.leaderWorkerTemplate.workerTemplate."};
// The port that the server of vLLM listens on, and that of the service.
constexpr std::int64_t kServerPort = 8000, kServicePort = 80;
// In the image: starts Ray on the leader and joins the workers to it
// (docs.vllm.ai/en/latest/deployment/frameworks/lws/).
constexpr std::string_view kManyNodes = "bash /vllm-workspace/examples/online_serving/multi-node-serving.sh";

/// A field with its value, or with what it holds.
struct ManifestNode {
    std::string name; ///< "[]": an item
    std::string value;
    std::vector<ManifestNode> inside;
};

/// One object of a manifest, fields in the order in which they were set.
class ManifestObject {
  public:
    ManifestObject(std::string_view kind, std::string_view version) : kind_(kind) {
        set("apiVersion", std::string(version));
        set("kind", std::string(kind));
    }

    /// `path` as in the table; a key of one's own stands for "{}". A list of values grows by each; any other
    /// has one item.
    void set(std::string_view path, const std::string& value, std::string_view key = {}) {
        check(path);
        ManifestNode* at = &root_;
        for (std::size_t from = 0; from <= path.size();) {
            const std::size_t to = std::min(path.find('.', from), path.size());
            std::string name(path.substr(from, to - from));
            if (name == "{}")
                name = key;
            const bool grows = name == "[]" && to == path.size();
            const auto same = std::find_if(at->inside.begin(), at->inside.end(),
                                           [&](const ManifestNode& f) { return f.name == name; });
            at = grows || same == at->inside.end() ? &at->inside.emplace_back(ManifestNode{name, {}, {}})
                                                   : &*same;
            from = to + 1;
        }
        at->value = value;
    }
    void set(std::string_view path, std::int64_t value, std::string_view key = {}) {
        set(path, std::to_string(value), key);
    }
    std::string text() const { return text_of(root_, 0); }

  private:
    void check(std::string_view path) const {
        std::string_view kind = kind_;
        for (const std::string_view start : kPodTemplates)
            if (path.starts_with(start)) {
                path.remove_prefix(start.size());
                kind = kPodKind;
                break;
            }
        if (std::none_of(kManifestFields.begin(), kManifestFields.end(),
                         [&](const ManifestField& f) { return f.kind == kind && f.path == path; }))
            throw Error(fmt::format("{} is no documented field of a {}", path, kind));
    }

    static std::string text_of(const ManifestNode& field, std::size_t indent) {
        std::string text;
        const std::string before(indent, ' ');
        for (const ManifestNode& f : field.inside) {
            const bool item = f.name == "[]";
            if (f.inside.empty()) {
                text += item ? fmt::format("{}- {}\n", before, f.value)
                             : fmt::format("{}{}: {}\n", before, f.name, f.value);
                continue;
            }
            if (item) {
                std::string lines = text_of(f, indent + 2);
                lines[indent] = '-';
                text += lines;
            } else {
                text += fmt::format("{}{}:\n", before, f.name) + text_of(f, indent + 2);
            }
        }
        return text;
    }

    std::string_view kind_;
    ManifestNode root_;
};

/// A name as Kubernetes takes them (RFC 1123).
std::string object_name(std::string_view text) {
    std::string name;
    for (const char c : text)
        name += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c
                : c >= 'A' && c <= 'Z'                           ? static_cast<char>(c - 'A' + 'a')
                                                                 : '-';
    return name;
}

/// YAML takes JSON's escapes in double quotes.
std::string in_quotes(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return quoted + '"';
}

/// The words of a command as a shell takes them.
std::string for_shell(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + shell_quoted(word);
    return text;
}

/// A pod with one container under `start`.
void add_pod(ManifestObject& object, const std::string& start, const ManifestOf& of,
             const std::string& role) {
    const auto set = [&](const char* path, const auto& value, std::string_view key = {}) {
        object.set(start + path, value, key);
    };
    set("metadata.labels.{}", object_name(of.model), "app");
    if (!role.empty())
        set("metadata.labels.{}", role, "role");
    set("spec.containers.[].name", role.empty() ? std::string("vllm") : "vllm-" + role);
    set("spec.containers.[].image", std::string("vllm/vllm-openai:latest"));
    if (role.empty()) {
        for (std::size_t i = 2; i < of.engine.size(); ++i) // after "vllm serve", which the image starts
            set("spec.containers.[].args.[]", in_quotes(of.engine[i]));
    } else {
        set("spec.containers.[].command.[]", std::string("sh"));
        set("spec.containers.[].command.[]", std::string("-c"));
        set("spec.containers.[].command.[]",
            in_quotes(role == "leader"
                          ? fmt::format("{} leader --ray_cluster_size=$(LWS_GROUP_SIZE); {}", kManyNodes,
                                        for_shell(of.engine))
                          : fmt::format("{} worker --ray_address=$(LWS_LEADER_ADDRESS)", kManyNodes)));
    }
    if (role != "worker") {
        set("spec.containers.[].ports.[].containerPort", kServerPort);
        set("spec.containers.[].readinessProbe.httpGet.path", std::string("/health"));
        set("spec.containers.[].readinessProbe.httpGet.port", kServerPort);
    }
    set("spec.containers.[].resources.limits.{}", of.node_devices, of.resource);
    set("spec.containers.[].volumeMounts.[].name", std::string("shm"));
    set("spec.containers.[].volumeMounts.[].mountPath", std::string("/dev/shm"));
    set("spec.volumes.[].name", std::string("shm"));
    set("spec.volumes.[].emptyDir.medium", std::string("Memory"));
}

std::string service_of(const ManifestOf& of) {
    ManifestObject object(kServiceKind, "v1");
    object.set("metadata.name", object_name(of.model));
    object.set("spec.selector.{}", object_name(of.model), "app");
    if (of.nodes > 1)
        object.set("spec.selector.{}", "leader", "role");
    object.set("spec.ports.[].port", kServicePort);
    object.set("spec.ports.[].targetPort", kServerPort);
    return object.text();
}

} // namespace

std::span<const ManifestField> manifest_fields() {
    return kManifestFields;
}

std::string manifest(const ManifestOf& of) {
    const bool one_node = of.nodes <= 1;
    ManifestObject object = one_node ? ManifestObject(kDeploymentKind, "apps/v1")
                                     : ManifestObject(kSetKind, "leaderworkerset.x-k8s.io/v1");
    object.set("metadata.name", object_name(of.model));
    object.set("spec.replicas", of.engines);
    if (one_node) {
        object.set("spec.selector.matchLabels.{}", object_name(of.model), "app");
        add_pod(object, std::string(kPodTemplates[0]), of, "");
    } else {
        object.set("spec.leaderWorkerTemplate.size", of.nodes);
        object.set("spec.leaderWorkerTemplate.restartPolicy", "RecreateGroupOnPodRestart");
        add_pod(object, std::string(kPodTemplates[1]), of, "leader");
        add_pod(object, std::string(kPodTemplates[2]), of, "worker");
    }
    return object.text() + "---\n" + service_of(of);
}

} // namespace archsim
