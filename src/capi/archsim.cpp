// The C interface over a Session: translates handles, texts and exceptions, and computes nothing.

#include "archsim/archsim.h"

#include "archsim/core/version.hpp"
#include "archsim/ops/given_values.hpp"
#include "archsim/report/result_json.hpp"
#include "archsim/run/session.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

struct archsim_session {
    archsim::Session session;
};

struct archsim_model {
    archsim::Model model;
};

namespace {

using namespace archsim;

char* copy_text(std::string_view text) {
    char* copy = new char[text.size() + 1];
    text.copy(copy, text.size());
    copy[text.size()] = '\0';
    return copy;
}

archsim_status status_of(const Error& problem) {
    if (dynamic_cast<const UsageError*>(&problem) != nullptr)
        return ARCHSIM_USAGE;
    return dynamic_cast<const IncompleteError*>(&problem) != nullptr ? ARCHSIM_INCOMPLETE : ARCHSIM_INPUT;
}

archsim_outcome outcome_of(Status status) {
    switch (status) {
    case Status::ok:
        return ARCHSIM_ESTIMATED;
    case Status::unsupported:
        return ARCHSIM_UNSUPPORTED;
    case Status::does_not_fit:
        return ARCHSIM_DOES_NOT_FIT;
    case Status::incomplete:
        return ARCHSIM_NOT_UNDERSTOOD;
    }
    return ARCHSIM_UNSUPPORTED;
}

/// Runs `body`, which returns a status, and turns exceptions into a status and a sentence.
template <typename Body>
archsim_status guarded(char** error, Body body) {
    if (error != nullptr)
        *error = nullptr;
    const auto failed = [error](archsim_status status, const char* why) noexcept {
        if (error != nullptr)
            *error = new (std::nothrow) char[std::strlen(why) + 1];
        if (error != nullptr && *error != nullptr)
            std::strcpy(*error, why);
        return status;
    };
    try {
        return body();
    } catch (const Error& problem) {
        return failed(status_of(problem), problem.what());
    } catch (const std::bad_alloc&) {
        return failed(ARCHSIM_INPUT, "there is not enough memory");
    } catch (const std::exception& problem) {
        return failed(ARCHSIM_FAULT, problem.what());
    } catch (...) {
        return failed(ARCHSIM_FAULT, "an exception of unknown type");
    }
}

/// What a caller reads although the call failed: nothing there.
template <class T>
void clear(T* out) {
    if (out != nullptr)
        *out = {};
}

template <typename... Pointers>
void require(const char* function, const Pointers*... pointers) {
    if (!(pointers && ...))
        throw UsageError(std::string(function) + ": an argument that must be given is NULL");
}

/// A sentence as far as it fits, whole characters of UTF-8.
void copy_cut(std::string_view text, char* to, std::size_t room) {
    std::size_t length = std::min(text.size(), room - 1);
    while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U)
        --length;
    text.copy(to, length);
}

Workload workload_of(const Model& model, const archsim_workload* given) {
    Workload workload{.model = model};
    if (given == nullptr)
        return workload;
    if (given->batch < 0 || given->prompt_tokens < 0 || given->generate_tokens < 0)
        throw UsageError("workload: a batch and tokens are counted from 1");
    workload.batch = std::max<int64_t>(1, given->batch);
    std::string_view sizes = given->sizes != nullptr ? given->sizes : "";
    while (!sizes.empty()) {
        const std::string_view item = sizes.substr(0, sizes.find(','));
        sizes.remove_prefix(std::min(sizes.size(), item.size() + 1));
        give_dim(workload.sizes, item, "sizes");
    }
    if (given->prompt_tokens > 0 || given->generate_tokens > 0) {
        Prompt& prompt = workload.prompt.emplace();
        if (given->prompt_tokens > 0)
            prompt.tokens = given->prompt_tokens;
        prompt.generate = std::max<int64_t>(1, given->generate_tokens); // the prompt alone makes the first
    }
    return workload;
}

Conditions conditions_of(const archsim_conditions* given) {
    Conditions conditions;
    if (given == nullptr)
        return conditions;
    if (given->precision != nullptr)
        conditions.precision = precision_named(given->precision);
    if (given->stack != nullptr)
        conditions.stack = given->stack;
    conditions.scenario = given->throughput != 0 ? Scenario::throughput : Scenario::latency;
    conditions.scope = given->end_to_end != 0 ? Scope::end_to_end : Scope::kernel;
    conditions.devices = given->devices > 0 ? given->devices : 1;
    return conditions;
}

archsim_estimate numbers_of(const Result& result) {
    const Estimate& e = result.estimate;
    archsim_estimate numbers = {};
    numbers.outcome = outcome_of(e.status);
    if (!result.ok()) {
        copy_cut(e.reason, numbers.reason, sizeof numbers.reason);
        return numbers;
    }
    numbers.latency_s = e.latency_s;
    numbers.latency_low_s = e.latency_interval.low;
    numbers.latency_high_s = e.latency_interval.high;
    numbers.throughput_per_s = e.throughput_per_s;
    numbers.power_w = e.power_w;
    numbers.energy_per_inference_j = e.energy_per_inference_j;
    numbers.utilization = e.utilization;
    numbers.peak_memory_bytes = e.memory.peak_bytes;
    numbers.weight_bytes = e.memory.weight_bytes;
    if (result.generation) {
        numbers.time_to_first_token_s = result.generation->time_to_first_token_s;
        numbers.time_per_output_token_s = result.generation->time_per_output_token_s;
    }
    return numbers;
}

} // namespace

const char* archsim_version(void) {
    return version().data();
}

archsim_status archsim_open(const char* data_dir, archsim_session** session, char** error) {
    clear(session);
    return guarded(error, [&] {
        require("archsim_open", session);
        SessionOptions options;
        if (data_dir != nullptr)
            options.data = data_dir;
        *session = new archsim_session{Session(options)};
        return ARCHSIM_OK;
    });
}

void archsim_close(archsim_session* session) {
    delete session;
}

archsim_status archsim_load(const archsim_session* session, const char* name, archsim_model** model,
                            char** error) {
    clear(model);
    return guarded(error, [&] {
        require("archsim_load", session, name, model);
        *model = new archsim_model{session->session.load(name)};
        return ARCHSIM_OK;
    });
}

void archsim_release(archsim_model* model) {
    delete model;
}

archsim_status archsim_run(const archsim_session* session, const archsim_model* model,
                           const archsim_workload* workload, const char* device,
                           const archsim_conditions* conditions, archsim_estimate* estimate, char** error) {
    clear(estimate);
    return guarded(error, [&] {
        require("archsim_run", session, model, device, estimate);
        *estimate = numbers_of(session->session.estimate(workload_of(model->model, workload), device,
                                                         conditions_of(conditions)));
        return ARCHSIM_OK;
    });
}

archsim_status archsim_run_json(const archsim_session* session, const archsim_model* model,
                                const archsim_workload* workload, const char* device,
                                const archsim_conditions* conditions, char** json, char** error) {
    clear(json);
    return guarded(error, [&] {
        require("archsim_run_json", session, model, device, json);
        *json = copy_text(to_json(session->session.estimate(workload_of(model->model, workload), device,
                                                            conditions_of(conditions))));
        return ARCHSIM_OK;
    });
}

void archsim_free_text(char* text) {
    delete[] text;
}
