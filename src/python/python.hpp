#pragma once
// C++ as a Python extension module: classes and functions with keywords; what the files of this folder need,
// no more. One compiled module runs under Python 3.9 and every newer one, because it uses the stable part of
// CPython's interface alone. Values and references are handled with the interpreter's lock held, but where a
// name says otherwise.

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
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

/// A reference that is counted. Empty: none.
class Ref {
  public:
    Ref() = default;
    /// Takes over what a call returned.
    static Ref owned(PyObject* object) { return Ref(object); }
    /// Counts a reference that another keeps.
    static Ref shared(PyObject* object) {
        Py_XINCREF(object);
        return Ref(object);
    }
    Ref(const Ref& other) : object_(other.object_) { Py_XINCREF(object_); }
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() { Py_XDECREF(object_); }

    PyObject* get() const { return object_; }
    PyObject* release() { return std::exchange(object_, nullptr); }
    explicit operator bool() const { return object_ != nullptr; }

  private:
    explicit Ref(PyObject* object) : object_(object) {}
    PyObject* object_ = nullptr;
};

/// The exception that Python has raised, on its way through C++; copied and dropped by threads without the
/// lock.
class Raised {
  public:
    /// Takes what is raised from the interpreter.
    Raised();
    /// Raises it again.
    void restore() const;

  private:
    struct Exception;
    std::shared_ptr<Exception> exception_;
};

/// Owns what a call returned; throws Raised for a null pointer.
Ref checked(PyObject* object);
/// Throws Raised for a negative status.
void check(int status);
/// Throws a TypeError.
[[noreturn]] void type_error(const std::string& text);

/// Other threads may run Python while this lives.
class Released {
  public:
    Released() : state_(PyEval_SaveThread()) {}
    ~Released() { PyEval_RestoreThread(state_); }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

  private:
    PyThreadState* state_;
};

/// The lock, for a thread that has it or not.
class Acquired {
  public:
    Acquired() : state_(PyGILState_Ensure()) {}
    ~Acquired() { PyGILState_Release(state_); }
    Acquired(const Acquired&) = delete;
    Acquired& operator=(const Acquired&) = delete;

  private:
    PyGILState_STATE state_;
};

/// Keyword arguments in the order in which they were given.
using Keywords = std::vector<std::pair<std::string, Ref>>;

/// An instance of a class: the value, or a part of a value that it keeps alive.
struct Instance {
    PyObject_HEAD std::shared_ptr<void> value;
};

/// The Python class of T, once it is made.
template <class T>
inline PyTypeObject* class_of = nullptr;

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
/// A text, or the path of a file.
inline bool is_name(PyObject* object) {
    return PyUnicode_Check(object) != 0 || PyObject_HasAttrString(object, "__fspath__") != 0;
}
template <>
struct Taken<std::string> {
    static std::string take(PyObject* object) {
        const bool path = PyObject_HasAttrString(object, "__fspath__") != 0;
        return path ? path_of(object).string() : text_of(object);
    }
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
            if (is_name(object))
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
        if (is_name(object))
            return Taken<std::string>::take(object);
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

/// An argument: its name and, after =, its default.
struct Argument {
    std::string name;
    std::optional<Ref> usual = {};
    bool keyword_only = false;

    template <class T>
    Argument operator=(const T& value) const { // NOLINT: a default is written as Python writes it
        return {name, given(value)};
    }
    Argument operator=(std::nullptr_t) const { return {name, Ref::shared(Py_None)}; } // NOLINT: as above
};
inline Argument arg(const char* name) {
    return {name};
}
/// Those after it are given by keyword alone.
struct KeywordOnly {};
inline KeywordOnly kw_only() {
    return {};
}

/// A function that Python calls: values in the order of its arguments, then the keywords that are none of
/// them.
struct Function {
    std::string name;
    std::string meaning = {};
    std::vector<Argument> arguments = {};
    bool takes_keywords = false;
    std::function<Ref(const std::vector<PyObject*>&, Keywords&)> call = {};

    void note(const Argument& argument) {
        arguments.push_back(argument);
        arguments.back().keyword_only = only_keywords;
    }
    void note(KeywordOnly) { only_keywords = true; }
    void note(const std::string& text) { meaning = text; }

    /// Calls it; throws a TypeError where they do not fit its arguments.
    Ref run(PyObject* positional, PyObject* keywords) const;

    bool only_keywords = false; ///< of the arguments that are noted from now on
};

/// An object that calls it; an attribute of a class is bound as a method.
Ref callable(Function function);
Ref property(Function getter);
Ref static_method(Function function);

namespace detail {

template <class T>
decltype(auto) taken(const std::vector<PyObject*>& values, std::size_t i, Keywords& keywords) {
    using Plain = std::remove_cvref_t<T>;
    if constexpr (std::same_as<Plain, Keywords>)
        return (keywords);
    else
        return Taken<Plain>::take(values.at(i));
}

// The types of a call's arguments and of its result, by its operator() or its address.
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
    template <class F>
    static Ref called(const F& call, const std::vector<PyObject*>& values, Keywords& keywords) {
        return called(call, values, keywords, std::index_sequence_for<A...>());
    }
    template <class F>
    static auto makes(F call) {
        return [call](A... given) { return std::make_shared<R>(call(std::forward<A>(given)...)); };
    }
    static constexpr bool takes_keywords = (std::same_as<std::remove_cvref_t<A>, Keywords> || ...);
    static constexpr std::size_t size = sizeof...(A) - (takes_keywords ? 1 : 0);

  private:
    template <class F, std::size_t... I>
    static Ref called(const F& call, const std::vector<PyObject*>& values, Keywords& keywords,
                      std::index_sequence<I...>) {
        if constexpr (std::is_void_v<R>) {
            call(taken<A>(values, I, keywords)...);
            return Ref::shared(Py_None);
        } else if constexpr (Object<R>) {
            return given(std::make_shared<R>(call(taken<A>(values, I, keywords)...)));
        } else {
            return given(call(taken<A>(values, I, keywords)...));
        }
    }
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};

template <class F, class... Notes>
Function function(const char* name, F call, bool method, const Notes&... notes) {
    using Shape = Signature<F>;
    Function made{.name = name, .takes_keywords = Shape::takes_keywords};
    if (method)
        made.arguments.push_back({"self"});
    (made.note(notes), ...);
    made.arguments.resize(std::max(made.arguments.size(), Shape::size)); // without a name: by their place
    made.call = [call](const std::vector<PyObject*>& values, Keywords& keywords) {
        return Shape::called(call, values, keywords);
    };
    return made;
}

/// Objects of a list that is part of a value keep the value, and are not copied.
template <class T>
Ref part(const std::shared_ptr<void>&, const T& value) {
    return given(value);
}
template <class T>
requires Object<T> Ref part(const std::shared_ptr<void>& whole, const std::vector<T>& values) {
    Ref list = checked(PyList_New(0));
    for (const T& value : values)
        check(PyList_Append(list.get(), given(std::shared_ptr<const T>(whole, &value)).get()));
    return list;
}

using Construct = std::function<std::shared_ptr<void>(const std::vector<PyObject*>&, Keywords&)>;
/// A class whose objects are Instances, made by `construct` where it is set when the class is called.
PyTypeObject* make_class(PyObject* module_, const char* name, const char* meaning, const Function* construct);
} // namespace detail

/// A module while it is made.
class Module {
  public:
    explicit Module(PyObject* object) : module_(object) {}
    PyObject* get() const { return module_; }
    void set(const char* name, const Ref& value) {
        check(PyObject_SetAttrString(module_, name, value.get()));
    }
    template <class F, class... Notes>
    void def(const char* name, F call, const Notes&... notes) {
        set(name, callable(detail::function(name, call, false, notes...)));
    }
    /// A class of exceptions; E and what derives from it become it. Made later: asked first.
    template <class E>
    Ref exception(const char* name, const Ref& base = {}) {
        return exception(name, base,
                         [](const std::exception& e) { return dynamic_cast<const E*>(&e) != nullptr; });
    }

  private:
    Ref exception(const char* name, const Ref& base, bool (*is)(const std::exception&));
    PyObject* module_;
};

/// The Python class of T while it is made.
template <class T>
class Class {
  public:
    Class(Module& m, const char* name, const char* meaning) {
        constructor_ = new Function{.name = name}; // for as long as the class is, which is for ever
        class_of<T> = detail::make_class(m.get(), name, meaning, constructor_);
    }
    /// How it is called; `make` returns a T.
    template <class F, class... Notes>
    Class& init(F make, const Notes&... notes) {
        *constructor_ = detail::function("__init__", detail::Signature<F>::makes(make), false, notes...);
        return *this;
    }
    template <class F, class... Notes>
    Class& def(const char* name, F call, const Notes&... notes) {
        return set(name, callable(detail::function(name, call, true, notes...)));
    }
    template <class F, class... Notes>
    Class& def_static(const char* name, F call, const Notes&... notes) {
        return set(name, static_method(detail::function(name, call, false, notes...)));
    }
    template <class F>
    Class& def_property_readonly(const char* name, F get, const char* meaning = "") {
        return set(name, property(detail::function(name, get, true, std::string(meaning))));
    }
    template <class M>
    Class& def_readonly(const char* name, M T::*member, const char* meaning = "") {
        Function getter{.name = name, .meaning = meaning, .arguments = {{"self"}}};
        getter.call = [member](const std::vector<PyObject*>& values, Keywords&) {
            const auto& whole = value_of<T>(values.at(0));
            return detail::part(whole, static_cast<const T*>(whole.get())->*member);
        };
        return set(name, property(std::move(getter)));
    }

  private:
    Class& set(const char* name, const Ref& value) {
        check(PyObject_SetAttrString(reinterpret_cast<PyObject*>(class_of<T>), name, value.get()));
        return *this;
    }
    Function* constructor_;
};

/// The result of PyInit_NAME: the module that `fill` makes, or an error.
PyObject* make_module(const char* name, void (*fill)(Module&));

} // namespace python
