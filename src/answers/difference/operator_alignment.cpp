// Alignment of two operator lists: longest common subsequence with weights. Ranges that are equal at both
// ends are taken off first; what is too long for the table is cut at operators that occur once on either
// side. Types, shapes and names are compared millions of times: as numbers, one per distinct text.

#include "answers/difference/difference.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <string_view>
#include <unordered_map>

namespace archsim {

constexpr std::size_t kLargestTable = 16'000'000; ///< cells of one byte

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// One operator, its texts as numbers.
struct Token {
    std::uint32_t type = 0, shape = 0, name = 0;
    bool numbered = false;
    auto operator<=>(const Token&) const = default;
};
using Records = std::span<const Token>;

/// "Conv_12": what exporters number says where an operator stands, not which it is.
static bool is_numbered(const OperatorRecord& op) {
    if (!op.name.starts_with(op.type))
        return false;
    const std::string_view rest = std::string_view(op.name).substr(op.type.size());
    return rest.find_first_not_of("_0123456789") == std::string_view::npos;
}

/// Numbers for texts, the same for both lists.
class Texts {
  public:
    explicit Texts(std::size_t operators) { numbers_.reserve(operators); }

    std::vector<Token> tokens(std::span<const OperatorRecord> list) {
        return mapped(list, [this](const OperatorRecord& op) {
            return Token{number(op.type), number(op.shape), number(op.name), is_numbered(op)};
        });
    }

  private:
    std::uint32_t number(std::string_view text) {
        return numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size())).first->second;
    }
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// 0: never the same operator.
static int likeness(const Token& a, const Token& b) {
    if (a.type != b.type)
        return 0;
    return 1 + (a.shape == b.shape ? 2 : 0) + (a.name == b.name && !a.numbered ? 3 : 0);
}

/// The pairing of largest likeness that keeps the order.
static void align_by_table(Records a, Records b, std::uint32_t from_a, std::uint32_t from_b, Pairs& out) {
    enum Step : std::uint8_t { pair, skip_a, skip_b };
    const std::size_t n = a.size(), m = b.size();
    std::vector<std::uint8_t> step(n * m);
    std::vector<int> below(m + 1), row(m + 1); // best of the rest, from the ends
    for (std::size_t i = n; i-- > 0;) {
        row[m] = 0;
        for (std::size_t j = m; j-- > 0;) {
            const int like = likeness(a[i], b[j]);
            int best = below[j];
            Step chosen = skip_a;
            if (row[j + 1] > best) {
                best = row[j + 1];
                chosen = skip_b;
            }
            if (like > 0 && below[j + 1] + like >= best) {
                best = below[j + 1] + like;
                chosen = pair;
            }
            row[j] = best;
            step[i * m + j] = chosen;
        }
        std::swap(row, below);
    }
    for (std::size_t i = 0, j = 0; i < n && j < m;) {
        const auto chosen = step[i * m + j];
        if (chosen == pair)
            out.emplace_back(from_a + i, from_b + j);
        i += chosen != skip_b ? 1 : 0;
        j += chosen != skip_a ? 1 : 0;
    }
}

/// Places of what occurs once in both lists, increasing in both.
static Pairs anchors(Records a, Records b) {
    struct Places {
        std::size_t in_a = 0, in_b = 0;
        std::uint32_t at_a = 0, at_b = 0;
    };
    std::map<Token, Places> places;
    for (std::uint32_t i = 0; i < a.size(); ++i) {
        Places& p = places[a[i]];
        ++p.in_a;
        p.at_a = i;
    }
    for (std::uint32_t j = 0; j < b.size(); ++j) {
        Places& p = places[b[j]];
        ++p.in_b;
        p.at_b = j;
    }
    Pairs once;
    for (const auto& [token, p] : places)
        if (p.in_a == 1 && p.in_b == 1)
            once.emplace_back(p.at_a, p.at_b);
    std::ranges::sort(once);
    // Longest increasing run of the second places (patience sorting).
    std::vector<std::size_t> tops, before(once.size());
    for (std::size_t i = 0; i < once.size(); ++i) {
        const auto pile = std::ranges::lower_bound(
            tops, once[i].second, [&](std::size_t top, std::uint32_t at) { return once[top].second < at; });
        before[i] = pile == tops.begin() ? once.size() : *(pile - 1);
        if (pile == tops.end())
            tops.push_back(i);
        else
            *pile = i;
    }
    Pairs run;
    for (std::size_t i = tops.empty() ? once.size() : tops.back(); i < once.size(); i = before[i])
        run.push_back(once[i]);
    std::ranges::reverse(run);
    return run;
}

static void align_range(Records a, Records b, std::uint32_t from_a, std::uint32_t from_b, Pairs& out) {
    while (!a.empty() && !b.empty() && a.front() == b.front()) {
        out.emplace_back(from_a++, from_b++);
        a = a.subspan(1);
        b = b.subspan(1);
    }
    Pairs end;
    while (!a.empty() && !b.empty() && a.back() == b.back()) {
        end.emplace_back(from_a + a.size() - 1, from_b + b.size() - 1);
        a = a.first(a.size() - 1);
        b = b.first(b.size() - 1);
    }
    if (!a.empty() && !b.empty()) {
        if (a.size() * b.size() <= kLargestTable) {
            align_by_table(a, b, from_a, from_b, out);
        } else {
            Pairs cuts = anchors(a, b);
            if (cuts.empty()) // nothing to hold on to: halves
                cuts.emplace_back(static_cast<std::uint32_t>(a.size() / 2),
                                  static_cast<std::uint32_t>(b.size() / 2));
            std::uint32_t i = 0, j = 0;
            const auto between = [&](std::uint32_t to_a, std::uint32_t to_b) {
                align_range(a.subspan(i, to_a - i), b.subspan(j, to_b - j), from_a + i, from_b + j, out);
            };
            for (const auto& [at_a, at_b] : cuts) {
                between(at_a, at_b);
                i = at_a;
                j = at_b;
                if (a[i] == b[j])
                    out.emplace_back(from_a + i++, from_b + j++);
            }
            between(static_cast<std::uint32_t>(a.size()), static_cast<std::uint32_t>(b.size()));
        }
    }
    out.insert(out.end(), end.rbegin(), end.rend());
}

/// Operators of one name on branches that the two files list in another order.
static void pair_moved(Records a, Records b, Pairs& pairs) {
    std::vector<bool> has_a(a.size()), has_b(b.size());
    for (const auto& [i, j] : pairs)
        has_a[i] = has_b[j] = true;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> left;
    for (std::uint32_t j = 0; j < b.size(); ++j)
        if (!has_b[j])
            left[{b[j].type, b[j].name}].push_back(j);
    for (std::uint32_t i = 0; i < a.size(); ++i) {
        const auto found = left.find({a[i].type, a[i].name});
        if (has_a[i] || found == left.end() || a[i].numbered || found->second.size() != 1)
            continue;
        pairs.emplace_back(i, found->second.front());
        found->second.clear();
    }
    std::ranges::sort(pairs);
}

/// Which of two lists comes first whichever way round they are asked about.
static std::strong_ordering order_of(std::span<const OperatorRecord> a, std::span<const OperatorRecord> b) {
    if (a.size() != b.size())
        return a.size() <=> b.size();
    for (std::size_t i = 0; i < a.size(); ++i)
        for (const auto& [x, y] :
             {std::pair(&a[i].type, &b[i].type), {&a[i].shape, &b[i].shape}, {&a[i].name, &b[i].name}})
            if (*x != *y)
                return *x <=> *y;
    return std::strong_ordering::equal;
}

Pairs align_operators(std::span<const OperatorRecord> a, std::span<const OperatorRecord> b) {
    Pairs pairs;
    const std::strong_ordering order = order_of(a, b);
    if (order == std::strong_ordering::equal) { // one model on two devices: each with itself
        for (std::uint32_t i = 0; i < a.size(); ++i)
            pairs.emplace_back(i, i);
        return pairs;
    }
    const bool turned = order == std::strong_ordering::greater;
    if (turned)
        std::swap(a, b);
    Texts texts(a.size() + b.size());
    const std::vector<Token> x = texts.tokens(a), y = texts.tokens(b);
    align_range(x, y, 0, 0, pairs);
    pair_moved(x, y, pairs);
    if (turned) {
        for (auto& [i, j] : pairs)
            std::swap(i, j);
        std::ranges::sort(pairs);
    }
    return pairs;
}

} // namespace archsim
