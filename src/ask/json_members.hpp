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

#include "archsim/core/export.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
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

/// What the schema allows, or null.
ARCHSIM_API Json or_null(Json schema);
/// Texts of a list.
ARCHSIM_API Json one_of(const std::vector<std::string>& words);

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
        Json object = Json::object();
        auto& members = object.template get_ref<Json::object_t&>(); // operator[] looks through all it has
        for (const auto& [key, item] : value)
            members.emplace_back(std::string(key), value_of(leaf, item));
        return object;
    } else {
        Json list = Json::array();
        for (const auto& item : value)
            list.push_back(value_of(leaf, item));
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
        return {{"type", "object"}, {"additionalProperties", schema_of<Leaf, Item>(leaf)}};
    } else {
        Json schema = {{"type", "array"}, {"items", schema_of<Leaf, std::ranges::range_value_t<V>>(leaf)}};
        if constexpr (Fixed<V>) {
            schema["minItems"] = std::tuple_size_v<V>;
            schema["maxItems"] = std::tuple_size_v<V>;
        }
        return schema;
    }
}

} // namespace json_schema

/// Numbers, truth values and texts, as they are.
struct PlainValue {
    template <class V>
    static constexpr bool fits = std::is_arithmetic_v<V> || json_schema::Text<V>;
    template <class V>
    static json_schema::Json value(const V& value) {
        if constexpr (json_schema::Text<V>)
            return std::string_view(value);
        else
            return value;
    }
    template <class V>
    static json_schema::Json schema() {
        if constexpr (json_schema::Text<V>)
            return {{"type", "string"}};
        else if constexpr (std::same_as<V, bool>)
            return {{"type", "boolean"}};
        else if constexpr (std::unsigned_integral<V>)
            return {{"type", "integer"}, {"minimum", 0}};
        else
            return {{"type", std::integral<V> ? "integer" : "number"}};
    }
};

/// An enumerator as its name; they end with `last`. Its name_of() is found beside the enumeration.
template <class Enum>
struct UpTo {
    Enum last;
    template <class V>
    static constexpr bool fits = std::same_as<V, Enum>;
    static json_schema::Json value(Enum value) { return std::string_view(name_of(value)); }
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
    static json_schema::Json value(std::string_view value) { return value; }
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

/// One member of an object: its key, its meaning in a phrase (empty: the key says it), and its value.
template <class Row>
class Member {
  public:
    /// `get` gives the value of a row: a member of it, or what a function makes of it. `leaf` says what
    /// values are that are no numbers or texts: the Members of an object, or one of the structs above; they
    /// may stand behind pointers and std::optional (null), and in lists and maps.
    template <class Get, class Leaf = PlainValue>
    Member(std::string key, std::string meaning, Get get, Leaf leaf = {})
        : key_(std::move(key)), meaning_(std::move(meaning)) {
        using Sometime =
            json_schema::SometimesOf<std::remove_cvref_t<std::invoke_result_t<const Get&, const Row&>>>;
        always_ = !Sometime::value;
        // What has no state is a plain function: so many lambdas, each in std::function, compile for minutes.
        using Value = typename Sometime::Value;
        if constexpr (std::is_empty_v<Leaf>)
            schema_ = +[] { return json_schema::schema_of<Leaf, Value>(Leaf{}); };
        else
            schema_ = [leaf] { return json_schema::schema_of<Leaf, Value>(leaf); };
        if constexpr (std::is_empty_v<Leaf> && std::is_empty_v<Get> && std::is_default_constructible_v<Get>)
            put_ = +[](const Row& row, json_schema::Json& to) { return put(Get{}, Leaf{}, row, to); };
        else
            put_ = [get = std::move(get), leaf](const Row& row, json_schema::Json& to) {
                return put(get, leaf, row, to);
            };
    }

    const std::string& key() const { return key_; }

  private:
    template <class>
    friend class Member;
    friend class Members<Row>;
    template <class>
    friend class Members;
    Member() = default;

    /// Gives `to` the value of a row; false: it has none.
    template <class Get, class Leaf>
    static bool put(const Get& get, const Leaf& leaf, const Row& row, json_schema::Json& to) {
        decltype(auto) got = std::invoke(get, row);
        if constexpr (json_schema::SometimesOf<std::remove_cvref_t<decltype(got)>>::value) {
            if (got.value)
                to = json_schema::value_of(leaf, *got.value);
            return got.value.has_value();
        } else {
            to = json_schema::value_of(leaf, got);
            return true;
        }
    }

    std::string key_, meaning_;
    bool always_ = true;
    std::function<json_schema::Json()> schema_;
    std::function<bool(const Row&, json_schema::Json&)> put_;
};

/// The members of an object, in order.
template <class Row>
class Members {
  public:
    using Json = json_schema::Json;

    Members(std::initializer_list<Member<Row>> list) : Members(std::vector<Member<Row>>(list)) {}
    explicit Members(std::vector<Member<Row>> list)
        : list_(std::make_shared<const std::vector<Member<Row>>>(std::move(list))) {}

    template <class V>
    static constexpr bool fits = std::is_convertible_v<const V&, const Row&>;

    /// The object of a row.
    Json value(const Row& row) const {
        Json object = Json::object();
        auto& members = object.template get_ref<Json::object_t&>();
        members.reserve(list_->size());
        for (const Member<Row>& member : *list_)
            if (Json value; member.put_(row, value))
                members.emplace_back(member.key_, std::move(value));
        return object;
    }

    /// What value() writes: all of these members, and no others.
    Json schema() const {
        Json required = Json::array(), properties = Json::object();
        for (const Member<Row>& member : *list_) {
            if (member.always_)
                required.push_back(member.key_);
            Json& property = properties[member.key_] = member.schema_();
            if (!member.meaning_.empty())
                property["description"] = member.meaning_;
        }
        Json object = {{"type", "object"}};
        if (!required.empty())
            object["required"] = std::move(required);
        object["properties"] = std::move(properties);
        object["additionalProperties"] = false;
        return object;
    }
    template <class V>
    Json schema() const {
        return schema();
    }

    /// These and those of `more` behind them; a member of the same key takes the place of the earlier one.
    Members with(const Members& more) const {
        std::vector<Member<Row>> all = *list_;
        for (const Member<Row>& member : *more.list_) {
            std::size_t at = 0;
            while (at < all.size() && all[at].key_ != member.key_)
                ++at;
            if (at == all.size())
                all.push_back(member);
            else
                all[at] = member;
        }
        return Members(std::move(all));
    }

    /// The same under other keys: those that `key` gives them; left out where it gives an empty one.
    Members under(const std::function<std::string(const std::string&)>& key) const {
        std::vector<Member<Row>> all;
        for (const Member<Row>& member : *list_)
            if (std::string other = key(member.key_); !other.empty())
                all.emplace_back(member).key_ = std::move(other);
        return Members(std::move(all));
    }

    /// The same members of another row, which has this one: `get` gives it. Where it gives a null pointer,
    /// they are left out.
    template <class Outer, class Get>
    Members<Outer> of(Get get) const {
        using Got = std::remove_cvref_t<std::invoke_result_t<const Get&, const Outer&>>;
        constexpr bool kPointing = json_schema::Pointing<Got> && !fits<Got>;
        std::vector<Member<Outer>> lifted;
        lifted.reserve(list_->size());
        for (const Member<Row>& member : *list_) {
            Member<Outer> one;
            one.key_ = member.key_;
            one.meaning_ = member.meaning_;
            one.always_ = member.always_ && !kPointing;
            one.schema_ = member.schema_;
            one.put_ = [get, put = member.put_](const Outer& outer, Json& to) {
                if constexpr (kPointing) {
                    const auto& got = std::invoke(get, outer);
                    return got && put(*got, to);
                } else {
                    return put(std::invoke(get, outer), to);
                }
            };
            lifted.push_back(std::move(one));
        }
        return Members<Outer>(std::move(lifted));
    }

  private:
    std::shared_ptr<const std::vector<Member<Row>>> list_;
};

/// A number that is known; else null. Infinities are not known.
ARCHSIM_API std::optional<double> known(bool whether, double value);
/// A finite number; else null.
ARCHSIM_API std::optional<double> finite(double value);
/// A number above 0; else null.
ARCHSIM_API std::optional<double> positive(double value);
/// A text that says something; else null.
ARCHSIM_API std::optional<std::string> nonempty(std::string text);

} // namespace archsim
