#include "graph/graph_digest.hpp"

namespace archsim {

// Every struct is taken apart by name: a member that is added does not compile until it is added here too.

class GraphDigest {
  public:
    explicit GraphDigest(Digest& digest) : digest_(digest) {}

    void add(const Graph& graph) {
        const auto& [name, tensors, nodes, inputs, outputs, captured, opset_imports, findings] = graph;
        all(tensors, nodes, inputs, outputs, captured, opset_imports, findings);
    }

  private:
    template <class... Parts>
    void all(const Parts&... parts) {
        (add(parts), ...);
    }
    template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add(T value) { digest_.number(value); }
    void add(const std::string& value) { digest_.text(value); }
    template <class T>
    void add(const std::vector<T>& items) {
        digest_.number(items.size());
        for (const T& item : items)
            add(item);
    }
    template <class A, class B>
    void add(const std::pair<A, B>& two) {
        add(two.first);
        add(two.second);
    }
    template <class T>
    void add(const std::optional<T>& value) {
        digest_.number(value.has_value());
        if (value)
            add(*value);
    }
    template <class T>
    void add(const std::shared_ptr<T>& value) {
        digest_.number(value != nullptr);
        if (value)
            add(*value);
    }
    void add(const AttributeValue& value) {
        digest_.number(value.index());
        std::visit([this](const auto& held) { add(held); }, value);
    }
    void add(const Dimension& dimension) {
        const auto& [value, symbol] = dimension;
        all(value, symbol);
    }
    void add(const Constant& constant) {
        const auto& [type, shape, ints, reals, strings] = constant;
        all(type, shape, ints, reals, strings);
    }
    void add(const Tensor& tensor) {
        const auto& [name, type, kind, role, shape, value, external, replaceable, buffer] = tensor;
        all(name, type, kind, role, shape, value, external, replaceable, buffer);
    }
    void add(const Node& node) {
        const auto& [name, op_type, domain, opset, inputs, outputs, attributes] = node;
        all(name, op_type, domain, opset, inputs, outputs, attributes);
    }
    /// Where it was found is no part of what was found.
    void add(const Finding& finding) {
        const auto& [kind, severity, message, file, where, hint, op_type, domain, opset] = finding;
        all(kind, severity, where, op_type, domain, opset);
    }

    Digest& digest_;
};

void add_graph(const Graph& graph, Digest& digest) {
    GraphDigest(digest).add(graph);
}

} // namespace archsim
