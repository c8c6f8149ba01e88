// Values, functions and classes of CPython's stable interface.

#include "python/python.hpp"

#include <new>
#include <stdexcept>

namespace python {

// Errors
// --------------------------------------------------------------------------------------------------------------

struct Raised::Exception {
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* traceback = nullptr;
};

Raised::Raised()
    : exception_(new Exception, [](Exception* kept) {
          const Acquired python;
          for (PyObject* object : {kept->type, kept->value, kept->traceback})
              Py_XDECREF(object);
          delete kept;
      }) {
    PyErr_Fetch(&exception_->type, &exception_->value, &exception_->traceback);
}

void Raised::restore() const {
    for (PyObject* object : {exception_->type, exception_->value, exception_->traceback})
        Py_XINCREF(object);
    PyErr_Restore(exception_->type, exception_->value, exception_->traceback);
}

Ref checked(PyObject* object) {
    if (object == nullptr)
        throw Raised();
    return Ref::owned(object);
}

void check(int status) {
    if (status < 0)
        throw Raised();
}

void type_error(const std::string& text) {
    PyErr_SetString(PyExc_TypeError, text.c_str());
    throw Raised();
}

static std::string name_of(PyTypeObject* type) {
    return text_of(checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__name__")).get());
}

void wrong_type(PyObject* object, const std::string& expected) {
    type_error("expected " + expected + ", not " + name_of(Py_TYPE(object)));
}
void wrong_type(PyObject* object, PyTypeObject* expected) {
    wrong_type(object, expected == nullptr ? "another class" : "an object of " + name_of(expected));
}

struct Translation {
    bool (*is)(const std::exception&);
    PyObject* type;
};
static std::vector<Translation>& translations() {
    static std::vector<Translation> all;
    return all;
}

/// Exceptions of C++ become those of Python.
template <class F, class R = std::invoke_result_t<F>>
static R guarded(F call, R failed = {}) {
    try {
        return call();
    } catch (const Raised& raised) {
        raised.restore();
    } catch (const std::exception& e) {
        PyObject* type = PyExc_RuntimeError;
        if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr)
            type = PyExc_MemoryError;
        else if (dynamic_cast<const std::out_of_range*>(&e) != nullptr)
            type = PyExc_IndexError;
        for (const auto& [is, its] : translations())
            if (is(e))
                type = its;
        PyErr_SetString(type, e.what());
    }
    return failed;
}

// Values
// --------------------------------------------------------------------------------------------------------------

std::string text_of(PyObject* object) {
    if (PyUnicode_Check(object) == 0)
        wrong_type(object, "a text");
    const Ref encoded = checked(PyUnicode_AsUTF8String(object));
    char* bytes = nullptr;
    Py_ssize_t size = 0;
    check(PyBytes_AsStringAndSize(encoded.get(), &bytes, &size));
    return {bytes, static_cast<std::size_t>(size)};
}

std::int64_t integer_of(PyObject* object) {
    const Ref index = checked(PyNumber_Index(object));
    const long long value = PyLong_AsLongLong(index.get());
    if (value == -1 && PyErr_Occurred() != nullptr)
        throw Raised();
    return value;
}

double number_of(PyObject* object) {
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred() != nullptr)
        throw Raised();
    return value;
}

bool truth_of(PyObject* object) {
    const int truth = PyObject_IsTrue(object);
    check(truth);
    return truth != 0;
}

std::filesystem::path path_of(PyObject* object) {
    PyObject* encoded = nullptr;
    if (PyUnicode_FSConverter(object, &encoded) == 0)
        throw Raised();
    const Ref bytes = Ref::owned(encoded);
    return std::string(PyBytes_AsString(encoded), static_cast<std::size_t>(PyBytes_Size(encoded)));
}

std::vector<Ref> items_of(PyObject* object) {
    if (PyUnicode_Check(object) != 0 || PyBytes_Check(object) != 0)
        wrong_type(object, "a list");
    const Ref iterator = checked(PyObject_GetIter(object));
    std::vector<Ref> items;
    while (PyObject* item = PyIter_Next(iterator.get()))
        items.push_back(Ref::owned(item));
    if (PyErr_Occurred() != nullptr)
        throw Raised();
    return items;
}

Ref given(const std::string& text) {
    return checked(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}
Ref given(const char* text) {
    return given(std::string(text));
}
Ref given(double number) {
    return checked(PyFloat_FromDouble(number));
}
Ref given(bool truth) {
    return Ref::shared(truth ? Py_True : Py_False);
}
Ref given(const Ref& object) {
    return object;
}
Ref bytes(const std::string& text) {
    return checked(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

// Functions
// -----------------------------------------------------------------------------------------------------------

Ref Function::run(PyObject* positional, PyObject* keywords) const {
    std::vector<PyObject*> values(arguments.size());
    Keywords rest;
    const auto count = static_cast<std::size_t>(PyTuple_Size(positional));
    for (std::size_t i = 0; i < count; ++i) {
        if (i >= arguments.size() || arguments[i].keyword_only)
            type_error(name + "() was given too many arguments: " + std::to_string(count));
        values[i] = PyTuple_GetItem(positional, static_cast<Py_ssize_t>(i));
    }
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t at = 0;
    while (keywords != nullptr && PyDict_Next(keywords, &at, &key, &value) != 0) {
        const std::string word = text_of(key);
        const auto found = std::ranges::find(arguments, word, &Argument::name);
        if (found == arguments.end()) {
            if (!takes_keywords)
                type_error(name + "() has no argument \"" + word + "\"");
            rest.emplace_back(word, Ref::shared(value));
            continue;
        }
        PyObject*& place = values[static_cast<std::size_t>(found - arguments.begin())];
        if (place != nullptr)
            type_error(name + "() was given \"" + word + "\" twice");
        place = value;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] != nullptr)
            continue;
        if (!arguments[i].usual)
            type_error(name + "() needs the argument \"" + arguments[i].name + "\"");
        values[i] = arguments[i].usual->get();
    }
    return call(values, rest);
}

/// A function as an object, with the object whose method it is.
struct Callable {
    PyObject_HEAD std::shared_ptr<const Function> function;
    PyObject* self;
};
static PyTypeObject* callable_type = nullptr;

static Ref new_callable(std::shared_ptr<const Function> function, PyObject* self) {
    Ref object = checked(PyType_GenericAlloc(callable_type, 0));
    auto* made = reinterpret_cast<Callable*>(object.get());
    std::construct_at(&made->function, std::move(function));
    Py_XINCREF(self);
    made->self = self;
    return object;
}

template <class T, class F>
static void destroy(PyObject* object, F members) {
    PyTypeObject* type = Py_TYPE(object);
    members(*reinterpret_cast<T*>(object));
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(reinterpret_cast<PyObject*>(type));
}

static void callable_dealloc(PyObject* object) {
    destroy<Callable>(object, [](Callable& it) {
        Py_XDECREF(it.self);
        std::destroy_at(&it.function);
    });
}

static PyObject* callable_call(PyObject* object, PyObject* positional, PyObject* keywords) {
    return guarded([&] {
        const auto& it = *reinterpret_cast<Callable*>(object);
        Ref all = Ref::shared(positional);
        if (it.self != nullptr) {
            const Ref first = checked(PyTuple_Pack(1, it.self));
            all = checked(PySequence_Concat(first.get(), positional));
        }
        return it.function->run(all.get(), keywords).release();
    });
}

static PyObject* callable_bind(PyObject* object, PyObject* self, PyObject*) {
    const auto& it = *reinterpret_cast<Callable*>(object);
    if (self == nullptr || self == Py_None || it.self != nullptr)
        return Ref::shared(object).release();
    return guarded([&] { return new_callable(it.function, self).release(); });
}

static PyObject* callable_name(PyObject* object, void*) {
    return guarded([&] { return given(reinterpret_cast<Callable*>(object)->function->name).release(); });
}
static PyObject* callable_meaning(PyObject* object, void*) {
    return guarded([&] { return given(reinterpret_cast<Callable*>(object)->function->meaning).release(); });
}

/// inspect.signature() and help() show it.
static PyObject* callable_signature(PyObject* object, void*) {
    return guarded([&] {
        const auto& it = *reinterpret_cast<Callable*>(object);
        const Ref inspect = checked(PyImport_ImportModule("inspect"));
        const Ref parameter = checked(PyObject_GetAttrString(inspect.get(), "Parameter"));
        const Ref list = checked(PyList_New(0));
        const auto add = [&](const std::string& name, const char* kind, const std::optional<Ref>& usual) {
            const Ref how = checked(PyObject_GetAttrString(parameter.get(), kind));
            const Ref words = checked(PyDict_New());
            if (usual)
                check(PyDict_SetItemString(words.get(), "default", usual->get()));
            const Ref values = checked(PyTuple_Pack(2, given(name).get(), how.get()));
            check(PyList_Append(list.get(),
                                checked(PyObject_Call(parameter.get(), values.get(), words.get())).get()));
        };
        const auto& arguments = it.function->arguments;
        for (std::size_t i = it.self != nullptr ? 1 : 0; i < arguments.size(); ++i) {
            const Argument& a = arguments[i];
            if (a.name.empty())
                add("value" + std::to_string(i), "POSITIONAL_ONLY", a.usual);
            else
                add(a.name, a.keyword_only ? "KEYWORD_ONLY" : "POSITIONAL_OR_KEYWORD", a.usual);
        }
        if (it.function->takes_keywords)
            add("question", "VAR_KEYWORD", std::nullopt);
        const Ref signature = checked(PyObject_GetAttrString(inspect.get(), "Signature"));
        return checked(PyObject_CallFunctionObjArgs(signature.get(), list.get(), nullptr)).release();
    });
}

template <class F>
static void* slot(F* function) {
    return reinterpret_cast<void*>(function);
}

static void make_callable_type() {
    static PyGetSetDef members[] = {{"__name__", callable_name, nullptr, nullptr, nullptr},
                                    {"__doc__", callable_meaning, nullptr, nullptr, nullptr},
                                    {"__signature__", callable_signature, nullptr, nullptr, nullptr},
                                    {nullptr, nullptr, nullptr, nullptr, nullptr}};
    PyType_Slot slots[] = {{Py_tp_dealloc, slot(callable_dealloc)},
                           {Py_tp_call, slot(callable_call)},
                           {Py_tp_descr_get, slot(callable_bind)},
                           {Py_tp_getset, members},
                           {0, nullptr}};
    PyType_Spec spec{"archsim._archsim.function", sizeof(Callable), 0, Py_TPFLAGS_DEFAULT, slots};
    callable_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
}

Ref callable(Function function) {
    return new_callable(std::make_shared<const Function>(std::move(function)), nullptr);
}

Ref property(Function getter) {
    const Ref meaning = given(getter.meaning);
    const Ref function = callable(std::move(getter));
    return checked(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyProperty_Type), function.get(),
                                                Py_None, Py_None, meaning.get(), nullptr));
}

Ref static_method(Function function) {
    const Ref builtins = checked(PyImport_ImportModule("builtins"));
    const Ref type = checked(PyObject_GetAttrString(builtins.get(), "staticmethod"));
    return checked(PyObject_CallFunctionObjArgs(type.get(), callable(std::move(function)).get(), nullptr));
}

// Classes
// -------------------------------------------------------------------------------------------------------------

/// The functions that make the objects of a class, by the class.
static std::map<PyTypeObject*, const Function*>& constructors() {
    static std::map<PyTypeObject*, const Function*> all;
    return all;
}

/// The one of a class or of the nearest that it derives from.
static const Function& constructor_of(PyTypeObject* type) {
    for (; type != nullptr; type = static_cast<PyTypeObject*>(PyType_GetSlot(type, Py_tp_base)))
        if (const auto found = constructors().find(type); found != constructors().end()) {
            if (!found->second->call)
                break;
            return *found->second;
        }
    type_error("objects of this class are what functions return; it cannot be called");
}

static PyObject* instance_new(PyTypeObject* type, PyObject*, PyObject*) {
    return guarded([&] {
        constructor_of(type);
        Ref object = checked(PyType_GenericAlloc(type, 0));
        std::construct_at(&reinterpret_cast<Instance*>(object.get())->value);
        return object.release();
    });
}

static int instance_init(PyObject* object, PyObject* positional, PyObject* keywords) {
    return guarded(
        [&] {
            const Ref made = constructor_of(Py_TYPE(object)).run(positional, keywords);
            reinterpret_cast<Instance*>(object)->value = reinterpret_cast<Instance*>(made.get())->value;
            return 0;
        },
        -1);
}

static void instance_dealloc(PyObject* object) {
    destroy<Instance>(object, [](Instance& it) { std::destroy_at(&it.value); });
}

PyTypeObject* detail::make_class(PyObject* module_, const char* name, const char* meaning,
                                 const Function* construct) {
    const std::string text = meaning;
    PyType_Slot slots[] = {{Py_tp_dealloc, slot(instance_dealloc)},
                           {Py_tp_new, slot(instance_new)},
                           {Py_tp_init, slot(instance_init)},
                           {Py_tp_doc, const_cast<char*>(text.c_str())},
                           {0, nullptr}};
    // The interpreter keeps the pointer to the name for as long as the class lives, which is for ever.
    static std::vector<std::unique_ptr<std::string>> names;
    names.push_back(std::make_unique<std::string>(std::string("archsim._archsim.") + name));
    PyType_Spec spec{names.back()->c_str(), sizeof(Instance), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                     slots};
    auto* type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release());
    constructors()[type] = construct;
    check(PyObject_SetAttrString(module_, name, reinterpret_cast<PyObject*>(type)));
    return type;
}

Ref Module::exception(const char* name, const Ref& base, bool (*is)(const std::exception&)) {
    const std::string full = std::string("archsim._archsim.") + name;
    Ref type = checked(PyErr_NewException(full.c_str(), base.get(), nullptr));
    set(name, type);
    translations().push_back({is, Ref(type).release()});
    return type;
}

PyObject* make_module(const char* name, void (*fill)(Module&)) {
    static PyModuleDef definition{
        PyModuleDef_HEAD_INIT, name, nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
    return guarded([&] {
        make_callable_type();
        Ref object = checked(PyModule_Create(&definition));
        Module m(object.get());
        fill(m);
        return object.release();
    });
}

} // namespace python
