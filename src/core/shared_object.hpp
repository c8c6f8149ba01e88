#pragma once
// Libraries of the system that only some questions need, loaded when one is asked: a tool that reads no YAML
// and keeps no results starts without them, and a program that links this library need not link them.

#include <string_view>

namespace archsim {

/// A shared library that stays loaded until the process ends.
class SharedObject {
  public:
    /// Loads `file` by its name with the version of its interface ("libsqlite3.so.0"). Throws InputError that
    /// says what needs it (`purpose`: "reading YAML") and which Debian package has it.
    SharedObject(std::string_view file, std::string_view package, std::string_view purpose);

    /// A function of it. Throws InputError where it has none of that name.
    template <class Function>
    Function* function(const char* name) const {
        return reinterpret_cast<Function*>(find(name));
    }

  private:
    void* find(const char* name) const;

    void* handle_ = nullptr;
    std::string_view file_; ///< a literal of the caller
};

} // namespace archsim
