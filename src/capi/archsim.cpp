// The C interface over a Session: translates handles, texts and exceptions, and computes nothing.

#include "archsim/archsim.h"

#include "archsim/core/version.hpp"
#include "archsim/ops/given_values.hpp"
#include "archsim/report/result_json.hpp"
#include "archsim/run/session.hpp"

#include <cstring>
#include <new>
#include <string>
#include <string_view>

struct archsim_session {
    archsim::Session session;
};

struct archsim_model {
    std::shared_ptr<const archsim::BoundModel> bound;
};

namespace {

using namespace archsim;

char* copy_text(std::string_view text) {
    char* copy = new char[text.size() + 1];
    text.copy(copy, text.size());
    copy[text.size()] = '\0';
    return copy;
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
        return failed(static_cast<archsim_status>(problem.exit_code()), problem.what());
    } catch (const std::bad_alloc&) {
        return failed(ARCHSIM_INPUT, "there is not enough memory");
    } catch (const std::exception& problem) {
        return failed(ARCHSIM_FAULT, problem.what());
    } catch (...) {
        return failed(ARCHSIM_FAULT, "an exception of unknown type");
    }
}

template <typename... Pointers>
void require(const char* function, const Pointers*... pointers) {
    if (!(pointers && ...))
        throw UsageError(std::string(function) + ": an argument that must be given is NULL");
}

Bindings parse_dims(std::string_view text) {
    Bindings bindings;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        give_dim(bindings, item, "dims");
    }
    return bindings;
}

RunOptions run_options(const archsim_options* given) {
    RunOptions options;
    if (given == nullptr)
        return options;
    if (given->precision != nullptr) {
        const auto precision = PrecisionConfig::parse(given->precision);
        if (!precision)
            throw UsageError("precision: \"" + std::string(given->precision) + "\" is not known");
        options.precision = *precision;
    }
    if (given->runtime != nullptr)
        options.runtime = given->runtime;
    options.scenario = given->throughput != 0 ? Scenario::throughput : Scenario::latency;
    options.scope = given->end_to_end != 0 ? Scope::end_to_end : Scope::kernel;
    options.chips = given->devices > 0 ? given->devices : 1;
    return options;
}

Result run(const archsim_session* session, const archsim_model* model, const char* hardware,
           const archsim_options* options) {
    session->session.hardware().device(hardware); // an unknown name is an error, not a row
    return session->session.run(model->bound, hardware, run_options(options));
}

} // namespace

const char* archsim_version(void) {
    return version().data();
}

archsim_status archsim_open(const char* data_dir, archsim_session** session, char** error) {
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

archsim_status archsim_load(const archsim_session* session, const char* model, int64_t batch_size,
                            const char* dims, archsim_model** bound, char** error) {
    return guarded(error, [&] {
        require("archsim_load", session, model, bound);
        if (batch_size < 1)
            throw UsageError("archsim_load: the batch size must be at least 1");
        const Model loaded = session->session.load(model);
        *bound = new archsim_model{
            session->session.bind(loaded, batch_size, parse_dims(dims != nullptr ? dims : ""))};
        return ARCHSIM_OK;
    });
}

void archsim_release(archsim_model* model) {
    delete model;
}

archsim_status archsim_run(const archsim_session* session, const archsim_model* model, const char* hardware,
                           const archsim_options* options, archsim_estimate* estimate, char** error) {
    return guarded(error, [&] {
        require("archsim_run", session, model, hardware, estimate);
        const Estimate e = run(session, model, hardware, options).estimate;
        if (e.status == Status::incomplete)
            throw IncompleteError(e.reason);
        if (e.status != Status::ok)
            throw InputError(e.reason);
        *estimate = {.latency_s = e.latency_s,
                     .latency_low_s = e.latency_interval.low,
                     .latency_high_s = e.latency_interval.high,
                     .throughput_per_s = e.throughput_per_s,
                     .power_w = e.power_w,
                     .energy_per_inference_j = e.energy_per_inference_j,
                     .utilization = e.utilization,
                     .peak_memory_bytes = e.memory.peak_bytes,
                     .weight_bytes = e.memory.weight_bytes};
        return ARCHSIM_OK;
    });
}

archsim_status archsim_run_json(const archsim_session* session, const archsim_model* model,
                                const char* hardware, const archsim_options* options, char** json,
                                char** error) {
    return guarded(error, [&] {
        require("archsim_run_json", session, model, hardware, json);
        *json = copy_text(to_json(run(session, model, hardware, options)));
        return ARCHSIM_OK;
    });
}

void archsim_free_text(char* text) {
    delete[] text;
}
