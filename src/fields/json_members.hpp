#pragma once
// Objects of JSON documents as lists of members: each says its key, what it means, and which value of a row
// it has. The same list writes the object and its JSON Schema, whose types are those of the values:
//
//   const Members<Load> load = {{"rate_per_s", "requests that arrive per second", &Load::rate},
//                               {"tokens", "of each prompt; null: not stated", &Load::tokens}};  //
//                               optional<int>
//   load.value({.rate = 2})   {"rate_per_s": 2.0, "tokens": null}
//   load.schema()             {"type": "object", "required": ["rate_per_s", "tokens"], "properties": {...},
//   ...}

#include <nlohmann/json.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace archsim {

/// The value of a member that is left out where there is none. (One of std::optional stays, and is null.)
template <class Value>
struct Sometimes {
    std::optional<Value> value;
};

namespace json_schema {

using Json = nlohmann::ordered_json;

// The parts of every value and schema. None of these is a template, and none is inline: thousands of members
// use them, and a compiler would make each of them anew.

Json json_of(bool value);
Json json_of(double value);
Json json_of(long long value);
Json json_of(unsigned long long value);
Json json_of(std::string_view value);
/// Behind the last of a list.
void append(Json& list, Json value);
/// Behind the last of an object, which has no such key.
void append(Json& object, std::string_view key, Json value);

/// {"type": TYPE}
Json of_type(const char* type);
/// {"type": "integer", "minimum": 0}
Json count_schema();
/// An object with any keys.
Json keyed_schema(Json item);
/// A list; of `length` items where that is fixed.
Json list_schema(Json item, std::optional<std::size_t> length);
/// The values of the schema, or null.
Json or_null(Json schema);
/// Texts of a list.
Json one_of(const std::vector<std::string>& words);

template <class V>
concept Text = std::convertible_to<const V&, std::string_view>;
/// std::optional and pointers: null where there is nothing behind them.
template <class V>
concept Pointing = !Text<V> && requires(const V& v) {
    *v;
    static_cast<bool>(v);
};
/// Pairs of a text and a value: an object with these keys.
template <class V>
concept Keyed = !Text<V> && std::ranges::range<V> && requires(std::ranges::range_value_t<V> pair) {
    { pair.first } -> Text;
    pair.second;
};
template <class V>
concept Fixed = requires {
    std::tuple_size<V>::value;
};

template <class V>
struct SometimesOf : std::false_type {
    using Value = V;
};
template <class V>
struct SometimesOf<Sometimes<V>> : std::true_type {
    using Value = V;
};

/// A value whose members are `leaf`'s, behind pointers and in lists and objects.
template <class Leaf, class V>
Json value_of(const Leaf& leaf, const V& value) {
    if constexpr (Leaf::template fits<V>) {
        return leaf.value(value);
    } else if constexpr (Pointing<V>) {
        return value ? value_of(leaf, *value) : Json(nullptr);
    } else if constexpr (Keyed<V>) {
        Json object(Json::value_t::object);
        for (const auto& [key, item] : value)
            append(object, key, value_of(leaf, item));
        return object;
    } else {
        Json list(Json::value_t::array);
        for (const auto& item : value)
            append(list, value_of(leaf, item));
        return list;
    }
}

template <class Leaf, class V>
Json schema_of(const Leaf& leaf) {
    if constexpr (Leaf::template fits<V>) {
        return leaf.template schema<V>();
    } else if constexpr (Pointing<V>) {
        return or_null(schema_of<Leaf, std::remove_cvref_t<decltype(*std::declval<const V&>())>>(leaf));
    } else if constexpr (Keyed<V>) {
        using Item = std::remove_cvref_t<decltype(std::declval<std::ranges::range_value_t<V>>().second)>;
        return keyed_schema(schema_of<Leaf, Item>(leaf));
    } else if constexpr (Fixed<V>) {
        return list_schema(schema_of<Leaf, std::ranges::range_value_t<V>>(leaf), std::tuple_size_v<V>);
    } else {
        return list_schema(schema_of<Leaf, std::ranges::range_value_t<V>>(leaf), std::nullopt);
    }
}

/// A member of any row: what Member<Row> says, with the row's type forgotten.
struct AnyMember {
    AnyMember();
    AnyMember(std::string_view key, std::string_view meaning);
    AnyMember(const AnyMember&);
    AnyMember(AnyMember&&) noexcept;
    AnyMember& operator=(const AnyMember&);
    AnyMember& operator=(AnyMember&&) noexcept;
    ~AnyMember();

    std::string key, meaning;
    bool always = true; ///< no row is without it
    /// The function that gives the value: here where it is as small as a pointer to a member, else behind
    /// `get`.
    alignas(std::max_align_t) std::array<std::byte, 16> small{};
    std::shared_ptr<const void> get;
    std::shared_ptr<const void> leaf; ///< what values consist of; null: it has no state
    Json (*schema)(const AnyMember& self) = nullptr;
    /// Gives `to` the value of a row, which is behind the pointer; false: it has none.
    bool (*put)(const AnyMember& self, const void* row, Json& to) = nullptr;
};

/// The members of an object of any row, in order.
using AnyMembers = std::vector<AnyMember>;
Json object_of(const AnyMembers& members, const void* row);
Json schema_of_members(const AnyMembers& members);
/// These and those of `more` behind them; a member of the same key takes the place of the earlier one.
AnyMembers with(const AnyMembers& these, const AnyMembers& more);
AnyMembers under(const AnyMembers& these, const std::function<std::string(const std::string&)>& key);
/// A member that gives another row: what it says is what `inner` says; `get` and `put` are yet to be set.
AnyMember around(const AnyMember& inner);
const AnyMember& inside(const AnyMember& outer);
std::shared_ptr<const AnyMembers> shared(AnyMembers members);

template <class Get>
concept Stateless = std::is_empty_v<Get> && std::is_default_constructible_v<Get>;
template <class Get>
concept Small = std::is_trivially_copyable_v<Get> && sizeof(Get) <= sizeof(AnyMember::small) &&
                !Stateless<Get>;

template <class Get>
void keep_get(AnyMember& member, Get get) {
    if constexpr (Small<Get>)
        std::construct_at(reinterpret_cast<Get*>(member.small.data()), get);
    else if constexpr (!Stateless<Get>)
        member.get = std::make_shared<const Get>(std::move(get));
}
template <class Get>
decltype(auto) kept_get(const AnyMember& member) {
    if constexpr (Stateless<Get>)
        return Get{};
    else if constexpr (Small<Get>)
        return *reinterpret_cast<const Get*>(member.small.data());
    else
        return *static_cast<const Get*>(member.get.get());
}

/// The Members of a row, as what values consist of.
template <class Row>
struct RowLeaf {
    const AnyMembers* members;
    template <class V>
    static constexpr bool fits = std::is_convertible_v<const V&, const Row&>;
    Json value(const Row& row) const { return object_of(*members, &row); }
    template <class V>
    Json schema() const {
        return schema_of_members(*members);
    }
};

} // namespace json_schema

/// Numbers, truth values and texts, as they are.
struct PlainValue {
    template <class V>
    static constexpr bool fits = std::is_arithmetic_v<V> || json_schema::Text<V>;
    template <class V>
    static json_schema::Json value(const V& value) {
        using namespace json_schema;
        if constexpr (Text<V>)
            return json_of(std::string_view(value));
        else if constexpr (std::same_as<V, bool>)
            return json_of(value);
        else if constexpr (std::unsigned_integral<V>)
            return json_of(static_cast<unsigned long long>(value));
        else if constexpr (std::integral<V>)
            return json_of(static_cast<long long>(value));
        else
            return json_of(static_cast<double>(value));
    }
    template <class V>
    static json_schema::Json schema() {
        using namespace json_schema;
        if constexpr (std::unsigned_integral<V> && !std::same_as<V, bool>)
            return count_schema();
        else
            return of_type(Text<V>                 ? "string"
                           : std::same_as<V, bool> ? "boolean"
                           : std::integral<V>      ? "integer"
                                                   : "number");
    }
};

/// An enumerator as its name; they end with `last`. Its name_of() is found beside the enumeration.
template <class Enum>
struct UpTo {
    Enum last;
    template <class V>
    static constexpr bool fits = std::same_as<V, Enum>;
    static json_schema::Json value(Enum value) {
        return json_schema::json_of(std::string_view(name_of(value)));
    }
    std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
            all.emplace_back(name_of(static_cast<Enum>(i)));
        return all;
    }
    template <class V>
    json_schema::Json schema() const {
        return json_schema::one_of(names());
    }
};
template <class Enum>
UpTo(Enum) -> UpTo<Enum>;

/// One of these texts.
struct OneOf {
    std::vector<std::string> words;
    template <class V>
    static constexpr bool fits = json_schema::Text<V>;
    static json_schema::Json value(std::string_view value) { return json_schema::json_of(value); }
    template <class V>
    json_schema::Json schema() const {
        return json_schema::one_of(words);
    }
};

/// JSON as it is, whose schema something else knows.
struct Shaped {
    std::function<json_schema::Json()> shape;
    template <class V>
    static constexpr bool fits = std::same_as<V, json_schema::Json>;
    static json_schema::Json value(const json_schema::Json& value) { return value; }
    template <class V>
    json_schema::Json schema() const {
        return shape();
    }
};

template <class Row>
class Members;

namespace json_schema {

// How a member keeps what its values consist of, and gets it back.
template <class Leaf>
struct LeafKeeper {
    static std::shared_ptr<const void> keep(Leaf leaf) {
        if constexpr (Stateless<Leaf>)
            return nullptr;
        else
            return std::make_shared<const Leaf>(std::move(leaf));
    }
    static decltype(auto) kept(const AnyMember& member) {
        if constexpr (Stateless<Leaf>)
            return Leaf{};
        else
            return *static_cast<const Leaf*>(member.leaf.get());
    }
};
template <class Row>
struct LeafKeeper<Members<Row>> {
    static std::shared_ptr<const void> keep(const Members<Row>& leaf) { return leaf.list_; }
    static RowLeaf<Row> kept(const AnyMember& member) {
        return {static_cast<const AnyMembers*>(member.leaf.get())};
    }
};

} // namespace json_schema

/// One member of an object: its key, its meaning in a phrase (empty: the key says it), and its value.
template <class Row>
class Member {
  public:
    /// `get` gives the value of a row: a member of it, or what a function makes of it. `leaf` says what
    /// values are that are no numbers or texts: the Members of an object, or one of the structs above; they
    /// may stand behind pointers and std::optional (null), and in lists and maps.
    template <class Get, class Leaf = PlainValue>
    Member(std::string_view key, std::string_view meaning, Get get, Leaf leaf = {}) : any_(key, meaning) {
        using Got = std::remove_cvref_t<std::invoke_result_t<const Get&, const Row&>>;
        any_.always = !json_schema::SometimesOf<Got>::value;
        any_.schema = schema<Leaf, typename json_schema::SometimesOf<Got>::Value>;
        any_.put = put<Get, Leaf>;
        any_.leaf = json_schema::LeafKeeper<Leaf>::keep(std::move(leaf));
        json_schema::keep_get(any_, std::move(get));
    }

    const std::string& key() const { return any_.key; }

  private:
    friend class Members<Row>;

    template <class Leaf, class Value>
    static json_schema::Json schema(const json_schema::AnyMember& self) {
        decltype(auto) leaf = json_schema::LeafKeeper<Leaf>::kept(self);
        return json_schema::schema_of<std::remove_cvref_t<decltype(leaf)>, Value>(leaf);
    }
    template <class Get, class Leaf>
    static bool put(const json_schema::AnyMember& self, const void* row, json_schema::Json& to) {
        decltype(auto) got = std::invoke(json_schema::kept_get<Get>(self), *static_cast<const Row*>(row));
        decltype(auto) leaf = json_schema::LeafKeeper<Leaf>::kept(self);
        if constexpr (json_schema::SometimesOf<std::remove_cvref_t<decltype(got)>>::value) {
            if (got.value)
                to = json_schema::value_of(leaf, *got.value);
            return got.value.has_value();
        } else {
            to = json_schema::value_of(leaf, got);
            return true;
        }
    }

    json_schema::AnyMember any_;
};

/// The members of an object, in order.
template <class Row>
class Members {
  public:
    using Json = json_schema::Json;

    Members(std::initializer_list<Member<Row>> list) : Members(all_of(list)) {}
    explicit Members(const std::vector<Member<Row>>& list) : Members(all_of(list)) {}

    Json value(const Row& row) const { return json_schema::object_of(*list_, &row); }
    /// The schema of value(): all of these members, and no others.
    Json schema() const { return json_schema::schema_of_members(*list_); }

    /// These and those of `more` behind them; a member of the same key takes the place of the earlier one.
    Members with(const Members& more) const { return Members(json_schema::with(*list_, *more.list_)); }

    /// The same under other keys: those that `key` gives them; left out where it gives an empty one.
    Members under(const std::function<std::string(const std::string&)>& key) const {
        return Members(json_schema::under(*list_, key));
    }

    /// The same members of another row, which has this one: `get` gives it. Where it gives a null pointer,
    /// they are left out.
    template <class Outer, class Get>
    Members<Outer> of(Get get) const {
        using json_schema::AnyMember;
        using Got = std::remove_cvref_t<std::invoke_result_t<const Get&, const Outer&>>;
        constexpr bool kPointing =
            json_schema::Pointing<Got> && !json_schema::RowLeaf<Row>::template fits<Got>;
        json_schema::AnyMembers lifted;
        lifted.reserve(list_->size());
        for (const AnyMember& member : *list_) {
            AnyMember& one = lifted.emplace_back(json_schema::around(member));
            one.always = member.always && !kPointing;
            json_schema::keep_get(one, get);
            one.put = [](const AnyMember& self, const void* outer, Json& to) {
                decltype(auto) got =
                    std::invoke(json_schema::kept_get<Get>(self), *static_cast<const Outer*>(outer));
                const AnyMember& inner = json_schema::inside(self);
                if constexpr (kPointing) {
                    return got && inner.put(inner, &static_cast<const Row&>(*got), to);
                } else {
                    const Row& row = got;
                    return inner.put(inner, &row, to);
                }
            };
        }
        return Members<Outer>(std::move(lifted));
    }

  private:
    template <class>
    friend class Members;
    friend struct json_schema::LeafKeeper<Members>;

    explicit Members(json_schema::AnyMembers list) : list_(json_schema::shared(std::move(list))) {}
    static json_schema::AnyMembers all_of(std::span<const Member<Row>> list) {
        json_schema::AnyMembers all;
        all.reserve(list.size());
        for (const Member<Row>& member : list)
            all.push_back(member.any_);
        return all;
    }

    std::shared_ptr<const json_schema::AnyMembers> list_;
};

/// A number that is known; else null. Infinities are not known.
std::optional<double> known(bool whether, double value);
/// A finite number; else null.
std::optional<double> finite(double value);
/// A number above 0; else null.
std::optional<double> positive(double value);
/// A text that says something; else null.
std::optional<std::string> nonempty(std::string text);

} // namespace archsim
