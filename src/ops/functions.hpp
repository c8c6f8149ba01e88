#pragma once
// Functions of operators, beyond their names: the operators of ai.onnx that others stand for.

#include <string_view>
#include <vector>

namespace archsim {

/// Operators of ai.onnx whose function the operator has, itself among them where it is one. `type` is that of
/// a bound graph. Empty where no operator of ai.onnx does what it does. Worked:
/// "com.microsoft.SkipLayerNormalization" adds and has the function of LayerNormalization.
std::vector<std::string_view> functions_of(std::string_view type);

/// "com.microsoft" of "com.microsoft.Gelu"; empty of an operator of ai.onnx.
std::string_view domain_of(std::string_view type);

} // namespace archsim
