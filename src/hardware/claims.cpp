#include "hardware/claims.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace archsim {

namespace {

/// A stack's share of the matrix peak, for all its devices or for a generation.
struct Claim {
    const Runtime* runtime;
    std::string where;
    const Fact* share;
};

bool for_accelerators(const Runtime& runtime) {
    return !runtime.families.empty() &&
           std::none_of(runtime.families.begin(), runtime.families.end(),
                        [](const Family& family) { return family.row().caches; });
}

std::vector<Claim> claims_of(std::span<const std::shared_ptr<const Runtime>> runtimes) {
    std::vector<Claim> claims;
    for (const auto& runtime : runtimes) {
        if (!for_accelerators(*runtime))
            continue;
        for (const ParameterEntry& entry : runtime->parameters) {
            if (entry.parameter != Parameter::matrix_efficiency)
                continue;
            const std::string at = fmt::format("/parameters/{}", info_of(entry.parameter).name);
            claims.push_back({runtime.get(), at, &entry.value});
            for (const auto& [generation, fact] : entry.by_generation)
                claims.push_back({runtime.get(), fmt::format("{}/by_generation/{}", at, generation), &fact});
        }
    }
    std::erase_if(claims, [](const Claim& c) { return !c.share->known() || c.share->source == nullptr; });
    return claims;
}

bool from_measurements(SourceKind kind) {
    return kind == SourceKind::fitted || kind == SourceKind::measured;
}

} // namespace

std::vector<Finding> claims_beyond_measured(std::span<const std::shared_ptr<const Runtime>> runtimes) {
    const std::vector<Claim> claims = claims_of(runtimes);
    double best = 0;
    for (const Claim& claim : claims)
        if (from_measurements(claim.share->source->kind))
            best = std::max(best, claim.share->value);
    std::vector<Finding> findings;
    for (const Claim& claim : claims) {
        if (best <= 0 || claim.share->source->kind != SourceKind::assumed || claim.share->value <= best)
            continue;
        Finding finding;
        finding.kind = FindingKind::inconsistent;
        finding.file = claim.runtime->file;
        finding.where = claim.where;
        finding.message =
            fmt::format("{:g} of the peak is assumed, more than any measured accelerator reaches ({:g})",
                        claim.share->value, best);
        finding.hint = "assume no more than that, or cite a measurement";
        findings.push_back(std::move(finding));
    }
    return findings;
}

} // namespace archsim
