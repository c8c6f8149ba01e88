#pragma once
// Checks a trace against the documents of those who read it.

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace archsim::test {

/// What is wrong with a trace in JSON, one sentence each. Rules: Trace Event Format (Google, 2016: "JSON
/// Object Format", "Complete Events", "Metadata Events", and of "Duration Events" that those of one thread
/// nest), and of Perfetto's importer that it counts whole nanoseconds and drops a slice that ends behind the
/// one it began in (google/perfetto#928, google/perfetto#4280).
std::vector<std::string> trace_faults(const nlohmann::json& trace);

} // namespace archsim::test
