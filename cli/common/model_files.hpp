#pragma once
// Models as users name them on a command line: "-" is standard input, a folder is every ONNX file in it.

#include <string>
#include <vector>

namespace archsim::cli {

/// The name itself; for "-" a file with what standard input holds, gone when the tool ends. Throws InputError
/// when nothing can be read.
std::string model_named(const std::string& name);

/// Each in turn; a folder of ONNX files that is no checkpoint becomes its files, by name.
std::vector<std::string> models_named(const std::vector<std::string>& names);

} // namespace archsim::cli
