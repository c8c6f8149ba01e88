#pragma once
// C++ as a Python extension module: classes and functions with keywords; what the files of this folder need,
// no more. One compiled module runs under Python 3.9 and every newer one.

#include "python/values.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace python {

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

/// What PyInit_NAME returns: the module that `fill` makes, or an error.
PyObject* make_module(const char* name, void (*fill)(Module&));

} // namespace python
