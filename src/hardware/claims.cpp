#include "hardware/schema_check.hpp"

#include <fmt/format.h>

namespace archsim {

/// Parameters of which the best measured value bounds what may be assumed.
struct Bounded {
    Parameter parameter;
    bool more_is_better;
    double margin;         ///< factor within which fits of it move with the rows they are made of
    std::string_view says; ///< of an assumed value
};
constexpr std::array kBounded = {
    Bounded{Parameter::matrix_efficiency, true, 1,
            "of the peak is assumed, more than any measured accelerator reaches"},
    Bounded{Parameter::inference_overhead, false, 2,
            "s per inference are assumed, less than half of what any measured accelerator pays"}};

/// A statement of a stack for all its devices or for a generation.
struct Claim {
    const Runtime* runtime;
    std::string where;
    const Fact* value;
};

static bool for_accelerators(const Runtime& runtime) {
    return !runtime.families.empty() &&
           std::ranges::none_of(runtime.families, [](const Family& family) { return family.row().caches; });
}

static std::vector<Claim> claims_of(std::span<const std::shared_ptr<const Runtime>> runtimes,
                                    Parameter parameter) {
    std::vector<Claim> claims;
    for (const auto& runtime : runtimes) {
        if (!for_accelerators(*runtime))
            continue;
        for (const ParameterEntry& entry : runtime->parameters) {
            if (entry.parameter != parameter)
                continue;
            const std::string at = fmt::format("/parameters/{}", info_of(entry.parameter).name);
            claims.push_back({runtime.get(), at, &entry.value});
            for (const auto& [generation, fact] : entry.by_generation)
                claims.push_back({runtime.get(), fmt::format("{}/by_generation/{}", at, generation), &fact});
        }
    }
    std::erase_if(claims, [](const Claim& c) { return !c.value->known() || c.value->source == nullptr; });
    return claims;
}

static bool from_measurements(SourceKind kind) {
    return kind == SourceKind::fitted || kind == SourceKind::measured;
}

static void check_bounded(const Bounded& bounded, std::span<const std::shared_ptr<const Runtime>> runtimes,
                          std::vector<Finding>& findings) {
    const std::vector<Claim> claims = claims_of(runtimes, bounded.parameter);
    const auto better = [&](double a, double b) { return bounded.more_is_better ? a > b : a < b; };
    std::optional<double> best;
    for (const Claim& claim : claims)
        if (from_measurements(claim.value->source->kind) && claim.value->value > 0 &&
            (!best || better(claim.value->value, *best)))
            best = claim.value->value;
    for (const Claim& claim : claims) {
        if (!best || claim.value->source->kind != SourceKind::assumed)
            continue;
        const double at_best = bounded.more_is_better ? *best * bounded.margin : *best / bounded.margin;
        if (!better(claim.value->value, at_best))
            continue;
        // An assumption at the bound would cross it at the next fit; at the best it has the whole margin.
        findings.push_back({.kind = FindingKind::inconsistent,
                            .message = fmt::format("{:g} {} ({:g})", claim.value->value, bounded.says, *best),
                            .file = claim.runtime->file,
                            .where = claim.where,
                            .hint = fmt::format("assume {:.2g}, or cite a measurement", *best)});
    }
}

std::vector<Finding> claims_beyond_measured(std::span<const std::shared_ptr<const Runtime>> runtimes) {
    std::vector<Finding> findings;
    for (const Bounded& bounded : kBounded)
        check_bounded(bounded, runtimes, findings);
    return findings;
}

} // namespace archsim
