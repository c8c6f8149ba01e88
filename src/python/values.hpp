#pragma once
// Values of Python in C++, and of C++ in Python.

#include "python/objects.hpp"

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace python {

// Values of Python in C++: Taken<T>::take(object) throws a TypeError, or what Python raises, for what is no
// T.

std::string text_of(PyObject* object);
std::int64_t integer_of(PyObject* object);
double number_of(PyObject* object);
bool truth_of(PyObject* object);
std::filesystem::path path_of(PyObject* object);
/// The items of anything but a text that can be iterated.
std::vector<Ref> items_of(PyObject* object);
[[noreturn]] void wrong_type(PyObject* object, const std::string& expected);
[[noreturn]] void wrong_type(PyObject* object, PyTypeObject* expected);

template <class T>
bool is_instance(PyObject* object) {
    return class_of<T> != nullptr && PyObject_TypeCheck(object, class_of<T>) != 0;
}
template <class T>
const std::shared_ptr<void>& value_of(PyObject* object) {
    if (!is_instance<T>(object))
        wrong_type(object, class_of<T>);
    const auto& value = reinterpret_cast<Instance*>(object)->value;
    if (!value)
        type_error("an object whose class did not call __init__()");
    return value;
}

template <class T>
struct Taken {
    static T& take(PyObject* object) { return *static_cast<T*>(value_of<T>(object).get()); }
};
template <>
struct Taken<Ref> {
    static Ref take(PyObject* object) { return Ref::shared(object); }
};
template <class T>
struct Taken<const T*> {
    static const T* take(PyObject* object) { return object == Py_None ? nullptr : &Taken<T>::take(object); }
};
template <>
struct Taken<std::string> {
    static std::string take(PyObject* object) { return text_of(object); }
};
template <>
struct Taken<bool> {
    static bool take(PyObject* object) { return truth_of(object); }
};
template <>
struct Taken<double> {
    static double take(PyObject* object) { return number_of(object); }
};
template <std::integral T>
requires(!std::same_as<T, bool>) struct Taken<T> {
    static T take(PyObject* object) {
        const std::int64_t value = integer_of(object);
        if (!std::in_range<T>(value))
            type_error(std::to_string(value) + " is out of range");
        return static_cast<T>(value);
    }
};
template <>
struct Taken<std::filesystem::path> {
    static std::filesystem::path take(PyObject* object) { return path_of(object); }
};
template <class T>
struct Taken<std::vector<T>> {
    static std::vector<T> take(PyObject* object) {
        std::vector<T> values;
        if constexpr (std::same_as<T, std::string>) // a name, or the path of a file, is a list of one
            if (PyUnicode_Check(object) != 0 || PyObject_HasAttrString(object, "__fspath__") != 0)
                return {path_of(object).string()};
        for (const Ref& item : items_of(object))
            values.push_back(Taken<T>::take(item.get()));
        return values;
    }
};
template <class A, class B>
struct Taken<std::pair<A, B>> {
    static std::pair<A, B> take(PyObject* object) {
        const auto items = items_of(object);
        if (items.size() != 2)
            type_error("expected a pair");
        return {Taken<A>::take(items[0].get()), Taken<B>::take(items[1].get())};
    }
};
template <class T>
struct Taken<std::optional<T>> {
    static std::optional<T> take(PyObject* object) {
        return object == Py_None ? std::nullopt : std::optional<T>(Taken<T>::take(object));
    }
};
template <class T>
struct Taken<std::variant<T, std::string>> {
    static std::variant<T, std::string> take(PyObject* object) {
        if (PyUnicode_Check(object) != 0)
            return text_of(object);
        return Taken<T>::take(object);
    }
};

// Values of C++ in Python: a new reference.

Ref given(const std::string& text);
Ref given(const char* text);
Ref given(double number);
Ref given(bool truth);
Ref given(const Ref& object);
template <std::integral T>
requires(!std::same_as<T, bool>) Ref given(T number) {
    if constexpr (std::is_signed_v<T>)
        return checked(PyLong_FromLongLong(number));
    else
        return checked(PyLong_FromUnsignedLongLong(number));
}
/// An object of the class that is that value, or a part of a value that it keeps.
template <class T>
Ref given(const std::shared_ptr<T>& value) {
    Ref object = checked(PyType_GenericAlloc(class_of<std::remove_const_t<T>>, 0));
    std::construct_at(&reinterpret_cast<Instance*>(object.get())->value,
                      std::const_pointer_cast<std::remove_const_t<T>>(value));
    return object;
}
/// Classes that are values in Python, not classes of this module.
template <class T>
inline constexpr bool is_value = std::is_same_v<T, std::string> || std::is_same_v<T, Ref>;
template <class... T>
inline constexpr bool is_value<std::vector<T...>> = true;
template <class... T>
inline constexpr bool is_value<std::map<T...>> = true;
template <class... T>
inline constexpr bool is_value<std::pair<T...>> = true;
template <class... T>
inline constexpr bool is_value<std::tuple<T...>> = true;
template <class T>
inline constexpr bool is_value<std::optional<T>> = true;
template <class T>
inline constexpr bool is_value<std::shared_ptr<T>> = true;
template <class T>
concept Object = std::is_class_v<T> && !is_value<T>;

template <Object T>
Ref given(const T& value) {
    return given(std::make_shared<T>(value));
}
template <class T>
Ref given(const std::optional<T>& value);
template <class T>
Ref given(const std::vector<T>& values);
template <class A, class B>
Ref given(const std::pair<A, B>& pair);
template <class... T>
Ref given(const std::tuple<T...>& tuple);
template <class K, class V>
Ref given(const std::map<K, V>& map);

template <class T>
Ref given(const std::optional<T>& value) {
    return value ? given(*value) : Ref::shared(Py_None);
}
template <class T>
Ref given(const std::vector<T>& values) {
    Ref list = checked(PyList_New(0));
    for (const T& value : values)
        check(PyList_Append(list.get(), given(value).get()));
    return list;
}
template <class... T>
Ref given(const std::tuple<T...>& tuple) {
    return std::apply(
        [](const auto&... values) {
            return checked(PyTuple_Pack(sizeof...(values), Ref(given(values)).get()...));
        },
        tuple);
}
template <class A, class B>
Ref given(const std::pair<A, B>& pair) {
    return given(std::tuple<const A&, const B&>(pair.first, pair.second));
}
template <class K, class V>
Ref given(const std::map<K, V>& map) {
    Ref dictionary = checked(PyDict_New());
    for (const auto& [key, value] : map)
        check(PyDict_SetItem(dictionary.get(), given(key).get(), given(value).get()));
    return dictionary;
}
Ref bytes(const std::string& text);

/// A function of Python's that C++ keeps and calls; threads need no lock for it.
template <class R, class... A>
struct Taken<std::function<R(A...)>> {
    static std::function<R(A...)> take(PyObject* object) {
        if (PyCallable_Check(object) == 0)
            wrong_type(object, "a function");
        const std::shared_ptr<PyObject> function(Ref::shared(object).release(), [](PyObject* kept) {
            const Acquired python;
            Py_DECREF(kept);
        });
        return [function](A... arguments) -> R {
            const Acquired python;
            const Ref result = checked(
                PyObject_CallFunctionObjArgs(function.get(), Ref(given(arguments)).get()..., nullptr));
            return Taken<R>::take(result.get());
        };
    }
};

} // namespace python
