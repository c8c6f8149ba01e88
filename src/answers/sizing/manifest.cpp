#include "answers/sizing/launch.hpp"

#include "fields/question.hpp"
#include "report/blocks/columns.hpp"

#include <fmt/format.h>

#include <sstream>

namespace archsim {

/// A name as Kubernetes takes them (RFC 1123).
static std::string object_name(std::string_view text) {
    std::string name;
    for (const char c : text)
        name += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c
                : c >= 'A' && c <= 'Z'                           ? static_cast<char>(c - 'A' + 'a')
                                                                 : '-';
    return name;
}

/// An item of a list: YAML takes JSON's escapes in double quotes.
static std::string item(std::string_view text) {
    std::string quoted;
    for (const char c : text)
        quoted += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return fmt::format("\n        - \"{}\"", quoted);
}

/// The command of the container: the image starts "vllm serve"; with several nodes a script in it starts Ray
/// on the leader and joins the workers to it (docs.vllm.ai/en/latest/deployment/frameworks/lws/).
static std::string start_of(const ManifestOf& of, std::string_view role) {
    if (role.empty())
        return "args:" + joined(std::span(of.engine).subspan(2), item, "");
    const std::string script = "bash /vllm-workspace/examples/online_serving/multi-node-serving.sh";
    const std::string line = role == "leader"
                                 ? fmt::format("{} leader --ray_cluster_size=$(LWS_GROUP_SIZE); {}", script,
                                               joined(of.engine, shell_quoted, " "))
                                 : fmt::format("{} worker --ray_address=$(LWS_LEADER_ADDRESS)", script);
    return "command:\n        - sh\n        - -c" + item(line);
}

/// A pod with one container, each line behind so many spaces.
static std::string pod(const ManifestOf& of, const std::string& role, std::size_t indent) {
    constexpr std::string_view kServes = R"(
      ports:
        - containerPort: 8000
      readinessProbe:
        httpGet:
          path: /health
          port: 8000)";
    std::istringstream lines(fmt::format(R"(metadata:
  labels:
    app: {}{}
spec:
  containers:
    - name: vllm{}
      image: vllm/vllm-openai:latest
      {}{}
      resources:
        limits:
          {}: {}
      volumeMounts:
        - name: shm
          mountPath: /dev/shm
  volumes:
    - name: shm
      emptyDir:
        medium: Memory)",
                                         object_name(of.model), role.empty() ? "" : "\n    role: " + role,
                                         role.empty() ? "" : "-" + role, start_of(of, role),
                                         role == "worker" ? "" : kServes, of.resource, of.node_devices));
    std::string text;
    for (std::string line; std::getline(lines, line);)
        text += std::string(indent, ' ') + line + "\n";
    return text;
}

std::string manifest(const ManifestOf& of) {
    const std::string name = object_name(of.model);
    const bool one_node = of.nodes <= 1;
    const std::string engines = one_node ? fmt::format(R"(  selector:
    matchLabels:
      app: {}
  template:
)",
                                                       name) +
                                               pod(of, "", 4)
                                         : fmt::format(R"(  leaderWorkerTemplate:
    size: {}
    restartPolicy: RecreateGroupOnPodRestart
    leaderTemplate:
{}    workerTemplate:
{})",
                                                       of.nodes, pod(of, "leader", 6), pod(of, "worker", 6));
    return fmt::format(R"(apiVersion: {}
metadata:
  name: {}
spec:
  replicas: {}
{}---
apiVersion: v1
kind: Service
metadata:
  name: {}
spec:
  selector:
    app: {}{}
  ports:
    - port: 80
      targetPort: 8000
)",
                       one_node ? "apps/v1\nkind: Deployment"
                                : "leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet",
                       name, of.engines, engines, name, name, one_node ? "" : "\n    role: leader");
}

} // namespace archsim
