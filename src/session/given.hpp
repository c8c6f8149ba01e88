#pragma once
// Measurements of one's own as rows, from a few words or from a file:
//
//   resnet50 int8 on Hailo-8 = 3.1ms
//   resnet50 fp16 b8 on A100 under tensorrt = 4200/s
//   llama-3-8b int4 decode on RTX-4090 under llama.cpp = 130/s
//   qwen3-8b in2000 out300 c32 tpot on H100 under vllm = 14ms
//
// Words: a network; a number format (default: fp32; of language models their usual one); bN, the batch
// (default: 1); a device; a software stack (default: the device's own). A time is that of one batch, a rate
// saturated throughput in items per second. Of a language model also what was timed: `prefill` or `decode` of
// a batch (a rate: tokens per second), or what a client of a server saw, `ttft` or `tpot` in the mean, with
// cN requests in flight (default: 1); prompts of inN tokens and answers of outN (default: 512 and 128, a
// decoding from an empty cache, as llama-bench measures); tp=N, the devices that share the model (default:
// 1).

#include "archsim/compare/measured_row.hpp"
#include "archsim/map/machine.hpp"
#include "archsim/run/session.hpp"
#include "hardware/posterior.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// One row. `device` is that of a text that names none; empty: the text must. `stack` is that of language
/// models where the text names none; empty: what runs the file. Throws UsageError naming `flag` and the form.
MeasuredRow parse_given(std::string_view text, const Session& session, std::string_view device,
                        std::string_view flag, std::string_view stack = {});
/// Every text, and every line of a text that is the path of a file; lines that begin with # say nothing.
std::vector<MeasuredRow> read_given(std::span<const std::string> texts, const Session& session,
                                    std::string_view device, std::string_view flag,
                                    std::string_view stack = {});

/// A row that has a phase. Throws InputError where there is no estimate to hold it against.
GivenRow given_language_row(const Session& session, const MeasuredRow& row, const std::string& hardware,
                            const Conditions& conditions);

/// A measured row beside its estimate: its machine and its error.
GivenRow given_row(const Machine& machine, SpreadOf metric, const LaneShares& lanes, double log_ratio);
/// Throws InputError that names the row.
[[noreturn]] void no_estimate(const MeasuredRow& row, const std::string& reason);

// The measurements of a session, in keys of questions: one that was asked with measurements, or of a device
// or stack that somebody described, is another.

/// Stands for what Session::given() took, whatever the order, as far as estimates follow it: of which device,
/// stack and kind of time, and how far from its estimate; and the files of the device and its stack where
/// they are not the library's own. Empty: nothing was given.
std::string measured_key(const Session& session, std::string_view device);
/// The key of the session that made a result.
std::string measured_key(const Result& result);

/// A question_key() with "measured" as one more member; as it is where nothing was given.
std::string with_measured(std::string question_key, std::string_view measured);

} // namespace archsim
