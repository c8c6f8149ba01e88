#include "hardware/device_reader.hpp"

#include "archsim/extend/operator.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

namespace archsim {

static std::vector<double> read_numbers(ObjectReader& block, std::string_view key) {
    std::vector<double> numbers;
    const JsonValue* value = block.member(key);
    if (value == nullptr)
        return numbers;
    for (const JsonValue& item : value->items())
        if (item.is_number())
            numbers.push_back(item.number());
    if (numbers.empty())
        block.context().report(FindingKind::malformed_file, Severity::error, block.place_of(key),
                               "this must be an array of numbers", "write [8]");
    return numbers;
}

/// A number that the fact must equal, or {"above", "below", "is", "is_not", "not_multiple_of"}.
static void read_condition(ObjectReader& when, std::string_view name, std::vector<OperatorCondition>& to) {
    const auto facts = operator_facts();
    const auto fact = std::ranges::find(facts, name, &OperatorFact::name);
    if (fact == facts.end()) {
        std::vector<std::string> known;
        for (const OperatorFact& f : facts)
            known.emplace_back(f.name);
        const auto nearest = nearest_names(name, known, 1);
        when.refuse(name, FindingKind::unknown_name,
                    fmt::format("\"{}\" is nothing that a condition looks at", name),
                    nearest.empty() ? std::string("docs/portability.md lists what is")
                                    : fmt::format("is \"{}\" meant?", nearest.front()));
        return;
    }
    OperatorCondition condition{.fact = &*fact};
    if (const JsonValue* value = when.member(name); value != nullptr && value->is_number())
        condition.is = {value->number()};
    else
        when.object(name, [&](ObjectReader& range) {
            constexpr Bounds kAny{-1e300, 1e300};
            const auto bound = [&](std::string_view key, double& into) {
                if (const double given = range.number(key, kAny); !std::isnan(given))
                    into = given;
            };
            bound("above", condition.above);
            bound("below", condition.below);
            bound("not_multiple_of", condition.not_multiple_of);
            condition.is = read_numbers(range, "is");
            condition.is_not = read_numbers(range, "is_not");
        });
    to.push_back(std::move(condition));
}

static std::shared_ptr<const Source> source_of(ObjectReader& block) {
    block.text("source");
    return block.source_or_none();
}

static OperatorRule read_rule(ObjectReader& block) {
    OperatorRule rule{.operators = block.texts("operators"), .generations = block.texts("generations")};
    block.object("when", [&](ObjectReader& when) {
        when.members([&](std::string_view name, const JsonPlace&) { read_condition(when, name, rule.when); });
    });
    rule.because = block.text("because", Need::required);
    rule.source = source_of(block);
    return rule;
}

static OperatorList read_list(ObjectReader& block) {
    OperatorList list{.operators = block.texts("operators"),
                      .generations = block.texts("generations"),
                      .because = block.text("because", Need::required),
                      .source = source_of(block)};
    std::ranges::sort(list.operators);
    return list;
}

std::shared_ptr<const OperatorRules> read_operator_rules(ObjectReader& block) {
    auto rules = std::make_shared<OperatorRules>();
    block.each("refused", [&](ObjectReader& row) { rules->refused.push_back(read_rule(row)); });
    block.each("lists", [&](ObjectReader& row) { rules->lists.push_back(read_list(row)); });
    block.object("rest_follows", [&](ObjectReader& rest) {
        rules->rest_follows = true;
        rules->rest_because = rest.text("because", Need::required);
        source_of(rest);
    });
    return rules->empty() ? nullptr : std::move(rules);
}

std::vector<std::string> unknown_operators(const OperatorRules& rules) {
    std::vector<std::string> unknown;
    const auto check = [&](const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            const auto dot = name.rfind('.');
            const std::string domain = dot == std::string::npos ? std::string() : name.substr(0, dot);
            const std::string own = dot == std::string::npos ? name : name.substr(dot + 1);
            if (own != "*" && OperatorRegistry::standard().find(domain, own) == nullptr)
                unknown.push_back(name);
        }
    };
    for (const OperatorRule& rule : rules.refused)
        check(rule.operators);
    for (const OperatorList& list : rules.lists)
        check(list.operators);
    return unknown;
}

} // namespace archsim
