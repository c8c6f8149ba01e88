#pragma once
// Families of architectures. A family is one row: what its device files state, how design changes scale it,
// and how work is counted on it. Names, JSON Schema and lists everywhere come from the table of rows
// (src/family/table.cpp).

#include "archsim/core/export.hpp"
#include "archsim/core/precision.hpp"
#include "archsim/core/provenance.hpp"
#include "archsim/hardware/parameters.hpp"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace archsim {

/// A part of the structure. A change is a factor on the device's own value.
enum class Structure : std::uint8_t {
    units,          ///< multiprocessors, cores, arrays, tiles: rounded to whole ones, at least one
    array,          ///< rows and columns of each systolic array, tile or multiply-accumulate array
    on_chip_memory, ///< capacity of caches, scratchpads and buffers
    clock,          ///< of the compute engines; the voltage, and with it the energy of an event, follows it
    count_
};
inline constexpr std::size_t kStructureCount = static_cast<std::size_t>(Structure::count_);

struct Device;
// Types of the modules above: a row holds functions on them.
class Mapper;
struct Machine;

/// A kind of tile of a fabric that has several.
struct TileKind {
    std::string kind;
    double count = 0;
    Fact rows, cols; ///< processing elements
    std::array<Fact, kPrecisionCount> ops_per_clock{};
};

/// Facts that only devices of one family state. Each family derives a struct of its own (see FactsOf).
struct ARCHSIM_API FamilyFacts {
    virtual ~FamilyFacts() = default;
    /// A copy of the same type.
    virtual std::unique_ptr<FamilyFacts> clone() const = 0;
    /// Identifies the type.
    virtual const void* type() const = 0;
};

/// Its address identifies a type of facts.
template <class Facts>
inline constexpr char kFactsType = 0;

/// Base of a family's facts: `struct CgraFacts : FactsOf<CgraFacts> { Fact lanes; };`
template <class Facts>
struct FactsOf : FamilyFacts {
    /// A copy of the same type.
    std::unique_ptr<FamilyFacts> clone() const override {
        return std::make_unique<Facts>(static_cast<const Facts&>(*this));
    }
    /// Identifies the type.
    const void* type() const override { return &kFactsType<Facts>; }
};

/// The facts of a device's family, by value; empty until stated.
class FamilyBlock {
  public:
    FamilyBlock() = default;
    /// Takes facts over.
    explicit FamilyBlock(std::unique_ptr<FamilyFacts> facts) : facts_(std::move(facts)) {}
    /// A copy of the facts of its own.
    FamilyBlock(const FamilyBlock& other) : facts_(other.facts_ ? other.facts_->clone() : nullptr) {}
    /// Takes the facts over.
    FamilyBlock(FamilyBlock&&) noexcept = default;
    /// Replaces the facts.
    FamilyBlock& operator=(FamilyBlock other) noexcept {
        facts_ = std::move(other.facts_);
        return *this;
    }
    ~FamilyBlock() = default;

    /// Facts of that type; nothing is stated where the device has none.
    template <class Facts>
    const Facts& as() const {
        static const Facts kNone;
        return facts_ && facts_->type() == &kFactsType<Facts> ? static_cast<const Facts&>(*facts_) : kNone;
    }
    /// Null when empty.
    const FamilyFacts* get() const { return facts_.get(); }
    /// Null when empty.
    FamilyFacts* get() { return facts_.get(); }

  private:
    std::unique_ptr<FamilyFacts> facts_;
};

/// One fact of a family: its place, meaning, bounds, and what design changes do to it.
struct FactRow {
    /// A number, [rows, columns], a switch, a word, words, or kinds of tiles.
    using Member = std::variant<Fact FamilyFacts::*, std::array<Fact, 2> FamilyFacts::*, bool FamilyFacts::*,
                                std::string FamilyFacts::*, std::vector<std::string> FamilyFacts::*,
                                std::vector<TileKind> FamilyFacts::*>;
    std::string_view name; ///< key in the family's block of a device file
    Member member;
    std::string_view doc;        ///< one sentence, for the schema
    std::string_view unit = "1"; ///< any unit of its dimension; values are kept in the library's unit of it
    double low = 1, high = std::numeric_limits<double>::infinity(); ///< outside, a number cannot be meant
    /// The design change that multiplies it: counts are rounded to whole ones, of [rows, columns] the rows
    /// grow. Kinds of tiles follow units and arrays without being told.
    std::optional<Structure> scales_with{};
    bool required = false;
    std::string_view unless{};                 ///< a fact that stands in for this one where it is required
    std::span<const std::string_view> words{}; ///< what a word may be; empty: anything
};

/// Member of a family's facts, as a row holds it: `.member = fact_at(&CgraFacts::lanes)`.
template <class Type, class Facts>
constexpr Type FamilyFacts::*fact_at(Type Facts::*member) {
    return static_cast<Type FamilyFacts::*>(member);
}

/// A parameter of the formulas that nobody has published or measured: its value unless a stack or a device
/// states one.
struct AssumedParameter {
    Parameter parameter;
    Fact value;
};
/// A number with the reason why it is assumed.
inline Fact assumption(double value, std::string reason) {
    Fact fact;
    fact.value = value;
    fact.source = std::make_shared<const Source>(Source{SourceKind::assumed, std::move(reason)});
    return fact;
}

/// Facts of which nothing is stated: `.make_facts = empty_facts<CgraFacts>`.
template <class Facts>
std::unique_ptr<FamilyFacts> empty_facts() {
    return std::make_unique<Facts>();
}

/// The aspect that every family states: how a new operator comes onto it.
inline constexpr std::string_view kProgrammability = "programmability";
/// A property of every device of a family that no number says.
struct FamilyProperty {
    std::string_view aspect; ///< kProgrammability, "driver", "timing", "flexibility", "use" ...
    std::string_view text;   ///< "fixed function"
    std::string_view source; ///< who says so
};

/// A family of architectures.
struct FamilyRow {
    std::string_view name;  ///< "gpu": flag value, JSON value, folder of the hardware database
    std::string_view title; ///< "GPU"
    std::string_view block; ///< key of its facts in device files
    std::string_view doc;   ///< one sentence on that block, for the schema
    std::span<const FactRow> facts{};
    std::unique_ptr<FamilyFacts> (*make_facts)() =
        nullptr;                         ///< empty ones; null: the family states nothing of its own
    const Mapper& (*mapper)() = nullptr; ///< counts its work; lives as long as the program

    std::span<const AssumedParameter> (*assumed)() = nullptr; ///< null: its formulas assume nothing

    bool is_host = false; ///< runs the application itself: no host beside it, no link to one
    bool caches = false;  ///< hardware, not the compiler, decides what stays on the chip
    /// Bytes in which the compiler places activations. Null: all on-chip memory, or none with `caches`.
    double (*managed_memory)(const Machine&) = nullptr;
    /// Bytes beside these that only weights use; null: none.
    double (*weight_memory)(const Machine&) = nullptr;
    /// Port between the compute units and external memory, in bytes per clock of the units; unknown or null:
    /// no limit.
    const Fact& (*memory_port)(const Device&) = nullptr;
    /// Clocks are those of ratings. What Parameter::matrix_efficiency says of the matrix engine holds for the
    /// port beside it: both run at the clock that the chip keeps.
    bool rated_clock = false;
    /// Replaces on-chip rates by what code of the machine's stack reaches, and times of its host by those of
    /// the device's; null: they stay as stated.
    void (*refine_rates)(Machine&, const Fact& clock) = nullptr;
    std::span<const FamilyProperty> properties{};
};

/// The null family.
inline constexpr FamilyRow kNoFamily{.name = "", .title = "device", .block = "", .doc = ""};

/// A row of the table, as a value: copies, compares and orders as the table does.
class ARCHSIM_API Family {
  public:
    /// No family.
    Family() = default;
    /// The family of that name, in any case. Throws InputError, with the nearest names, when there is none.
    explicit Family(std::string_view name);
    /// That row, which must be in the table.
    explicit Family(const FamilyRow& row) : row_(&row) {}

    /// Its row of the table.
    const FamilyRow& row() const { return *row_; }
    /// Place in the table; families() of no family.
    std::size_t index() const;
    /// The same row.
    friend bool operator==(Family, Family) = default;
    /// The order of the table.
    friend std::strong_ordering operator<=>(Family a, Family b) { return a.index() <=> b.index(); }

  private:
    const FamilyRow* row_ = &kNoFamily;
};
inline std::string_view name_of(Family family) {
    return family.row().name;
} ///< "gpu"
inline std::string_view title_of(Family family) {
    return family.row().title;
} ///< "GPU"
/// The family of that name, in any case.
ARCHSIM_API std::optional<Family> parse_family(std::string_view text);
/// All families, in the order of the table.
ARCHSIM_API std::vector<Family> families();
/// Their names: "cpu", "gpu", ...
inline std::vector<std::string> family_names() {
    std::vector<std::string> names;
    for (const Family family : families())
        names.emplace_back(name_of(family));
    return names;
}

/// A family that the library does not know, in the table while this lives. Not thread-safe: add families
/// before work starts, remove them in reverse order. The row must outlive it.
class ARCHSIM_API AddedFamily {
  public:
    /// Throws InputError when the name is taken or the row lacks a name, a mapper, or facts for its rows.
    explicit AddedFamily(const FamilyRow& row);
    AddedFamily(const AddedFamily&) = delete;
    AddedFamily& operator=(const AddedFamily&) = delete;
    ~AddedFamily();
    /// The family.
    Family family() const { return Family(row_); }

  private:
    const FamilyRow& row_;
};

/// A fact of the device's family by its name in device files, to read or to state: `family_fact<Fact>(device,
/// "sm_count")`. Throws InputError when the family has no such fact of that type.
template <class Type>
Type& family_fact(Device& device, std::string_view name);
extern template ARCHSIM_API Fact& family_fact<Fact>(Device&, std::string_view);
extern template ARCHSIM_API std::array<Fact, 2>& family_fact<std::array<Fact, 2>>(Device&, std::string_view);
extern template ARCHSIM_API bool& family_fact<bool>(Device&, std::string_view);
extern template ARCHSIM_API std::string& family_fact<std::string>(Device&, std::string_view);
extern template ARCHSIM_API std::vector<std::string>& family_fact<std::vector<std::string>>(Device&,
                                                                                            std::string_view);
extern template ARCHSIM_API std::vector<TileKind>& family_fact<std::vector<TileKind>>(Device&,
                                                                                      std::string_view);
/// A number of the device's family block: "sm_count"; unknown where it is not stated or the family has no
/// such number.
ARCHSIM_API const Fact& family_number(const Device& device, std::string_view name);

} // namespace archsim
