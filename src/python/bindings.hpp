#pragma once
// Shared by the files of the extension module.

#include "archsim/compare/decisions.hpp"
#include "fields/question.hpp"
#include "fields/serving_fields.hpp"
#include "python/python.hpp"

#include <initializer_list>
#include <string_view>

/// The question that keyword arguments ask, each the field of its name; None is not given. Throws UsageError,
/// as the tools do, for names and values that cannot be. `without`: fields that the caller has arguments of
/// its own for.
archsim::Question question(const python::Keywords& fields,
                           std::initializer_list<std::string_view> without = {});

/// The limits among keywords, max_latency="33ms" or in SI units, and pareto=["energy", "latency"], which are
/// taken out of them. Throws UsageError for values that have another unit and for metrics that are none.
archsim::DecisionRequest take_decision(python::Keywords& fields, const archsim::Metric& preference);

/// Batch sizes as a list has them: 8, or "1k".
using AskedSizes = std::vector<std::variant<std::int64_t, std::string>>;
/// The numbers that they are, as the field of that name reads them. Throws UsageError.
std::vector<std::int64_t> batch_sizes(const AskedSizes& sizes);

struct AskedServing {
    archsim::ServingRequest request;
    archsim::Conditions conditions;
    archsim::ServingTexts texts; ///< that the request's load and engine were made from
};
/// The same for a server: keywords are fields of its load and its engine, `parallel` and `devices`, and
/// fields of the question.
AskedServing asked_serving(const python::Keywords& fields);
/// The text that a number, a text or a truth is in a field. Throws UsageError for anything else.
std::string field_text(const std::string& name, PyObject* value);

/// Adds the class DesignSpace.
void bind_design_space(python::Module& m);
/// Adds the answers of the other tools, and what saves results.
void bind_answers(python::Module& m);
