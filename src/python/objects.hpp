#pragma once
// Python's objects in C++, through the stable part of CPython's interface alone: references that are counted,
// errors that it raised, and its lock. Values and references are handled with the interpreter's lock held,
// but where a name says otherwise.

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <memory>
#include <string>
#include <utility>
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

/// What a call returned; throws Raised for a null pointer.
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

} // namespace python
