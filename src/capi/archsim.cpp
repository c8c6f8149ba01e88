// The C interface over a Session: translates handles, texts and exceptions, and computes nothing.

#include "archsim/archsim.h"

#include "answers/serving/serving_report.hpp"
#include "archsim/compare/metric.hpp"
#include "archsim/core/version.hpp"
#include "archsim/run/serve.hpp"
#include "archsim/run/session.hpp"
#include "archsim/run/step.hpp"
#include "core/scan_text.hpp"
#include "core/text.hpp"
#include "fields/question.hpp"
#include "fields/serving_fields.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "session/given.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

struct archsim_session {
    archsim::Session session;
};

struct archsim_model {
    archsim::Model model;
};

struct archsim_question {
    archsim::Model model;
    archsim::QuestionTexts texts;
    archsim::ServingTexts server;
};

struct archsim_engine {
    archsim::StepEngine engine;
};

using namespace archsim;

static char* copy_text(std::string_view text) {
    char* copy = new char[text.size() + 1];
    text.copy(copy, text.size());
    copy[text.size()] = '\0';
    return copy;
}

static archsim_status status_of(const Error& problem) {
    if (dynamic_cast<const UsageError*>(&problem) != nullptr)
        return ARCHSIM_USAGE;
    return dynamic_cast<const IncompleteError*>(&problem) != nullptr ? ARCHSIM_INCOMPLETE : ARCHSIM_INPUT;
}

static archsim_outcome outcome_of(Status status) {
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

/// Runs `body` and turns exceptions into a status and a sentence.
template <typename Body>
static archsim_status guarded(char** error, Body body) {
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
        body();
        return ARCHSIM_OK;
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

/// A caller who reads although the call failed finds nothing there.
template <class T>
static void clear(T* out) {
    if (out != nullptr)
        *out = {};
}

template <typename... Pointers>
static void require(const char* function, const Pointers*... pointers) {
    if (!(pointers && ...))
        throw UsageError(std::string(function) + ": an argument that must be given is NULL");
}

/// A sentence as far as it fits, whole characters of UTF-8.
static void copy_cut(std::string_view text, char* to, std::size_t room) {
    std::size_t length = std::min(text.size(), room - 1);
    while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U)
        --length;
    text.copy(to, length);
}

/// Texts of the fields that the two structures hold; what is zero is not given.
static QuestionTexts texts_of(const archsim_workload* workload, const archsim_conditions* conditions) {
    QuestionTexts texts(Spelling::key);
    const auto number = [&](const char* field, int64_t value) {
        if (value != 0)
            texts.give(field, std::to_string(value));
    };
    if (workload != nullptr) {
        if (workload->batch < 0 || workload->prompt_tokens < 0 || workload->generate_tokens < 0)
            throw UsageError("workload: a batch and tokens are counted from 1");
        number("batch", workload->batch);
        each_part(workload->sizes != nullptr ? workload->sizes : "", ',',
                  [&](std::string_view item) { texts.give("sizes", item); });
        number("prompt_tokens", workload->prompt_tokens);
        // The prompt alone makes the first token.
        number("generate_tokens", workload->generate_tokens > 0 ? workload->generate_tokens
                                  : workload->prompt_tokens > 0 ? 1
                                                                : 0);
        if (workload->single_pass != 0)
            texts.give("single_pass", "true");
    }
    if (conditions != nullptr) {
        if (conditions->precision != nullptr)
            texts.give("precision", conditions->precision);
        if (conditions->stack != nullptr && *conditions->stack != '\0')
            texts.give("stack", conditions->stack);
        if (conditions->throughput != 0)
            texts.give("scenario", "throughput");
        if (conditions->end_to_end != 0)
            texts.give("scope", "end_to_end");
        number("devices", conditions->devices);
    }
    return texts;
}

static Result answer(const archsim_session& session, const Model& model, const char* device,
                     const QuestionTexts& texts) {
    const Question question = texts.question(model);
    return session.session.estimate(question.workload, device, question.conditions);
}

/// The same for a question that was put together; what only a server is asked would be dropped.
static Result answer(const archsim_session& session, const archsim_question& question, const char* device) {
    if (const auto fields = question.server.of_servers_alone(); !fields.empty())
        throw UsageError(fields.front() + ": only for a server (archsim_serve_json, archsim_make_engine)");
    return answer(session, question.model, device, question.texts);
}

struct AskedServer {
    ServingRequest request;
    Conditions conditions;
};

static AskedServer asked_server(const archsim_question& question) {
    QuestionTexts texts = question.texts;
    if (!texts.has("prompt_tokens") && !texts.has("generate_tokens"))
        texts.give("prompt_tokens", "1"); // layouts are of answers to prompts; lengths are the load's
    Question asked = texts.question(question.model);
    AskedServer server{question.server.request(), std::move(asked.conditions)};
    server.request.sizes = std::move(asked.workload.sizes);
    if (asked.workload.prompt)
        server.request.parallelism = asked.workload.prompt->parallel;
    if (!server.request.parallelism && question.texts.has("devices") && server.conditions.devices == 1)
        server.request.parallelism = Parallelism{}; // not the fewest that hold the model
    return server;
}

static archsim_estimate numbers_of(const Result& result) {
    const Estimate& e = result.estimate;
    archsim_estimate numbers = {};
    numbers.outcome = outcome_of(e.status);
    if (!result.ok()) {
        copy_cut(e.reason, numbers.reason, sizeof numbers.reason);
        return numbers;
    }
    // Inside of the library the unknown is a number that is none; in C it is 0.
    const auto known = [](double value) { return std::isfinite(value) ? value : 0; };
    numbers.latency_s = known(e.latency_s);
    numbers.latency_low_s = known(e.latency_interval.low);
    numbers.latency_high_s = known(e.latency_interval.high);
    numbers.throughput_per_s = known(e.throughput_per_s);
    numbers.power_w = known(value_or_nan(result, metric::power));
    numbers.energy_per_inference_j = known(value_or_nan(result, metric::energy));
    numbers.utilization = known(e.utilization);
    numbers.peak_memory_bytes = known(e.memory.peak_bytes);
    numbers.weight_bytes = known(e.memory.weight_bytes);
    copy_cut(precision_name(e.executed), numbers.executed_precision, sizeof numbers.executed_precision);
    if (result.generation) {
        numbers.time_to_first_token_s = known(result.generation->time_to_first_token_s);
        numbers.time_per_output_token_s = known(result.generation->time_per_output_token_s);
    }
    return numbers;
}

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
    });
}

void archsim_close(archsim_session* session) {
    delete session;
}

archsim_status archsim_given(archsim_session* session, const char* rows, char** error) {
    return guarded(error, [&] {
        require("archsim_given", session, rows);
        std::vector<MeasuredRow> given;
        for (const std::string_view line : split(rows, '\n'))
            if (line.find_first_not_of(" \t\r") != std::string_view::npos)
                given.push_back(parse_given(line, session->session, "", "archsim_given"));
        session->session.given(given);
    });
}

archsim_status archsim_load(const archsim_session* session, const char* name, archsim_model** model,
                            char** error) {
    clear(model);
    return guarded(error, [&] {
        require("archsim_load", session, name, model);
        *model = new archsim_model{session->session.load(name)};
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
        *estimate = numbers_of(answer(*session, model->model, device, texts_of(workload, conditions)));
    });
}

archsim_status archsim_run_json(const archsim_session* session, const archsim_model* model,
                                const archsim_workload* workload, const char* device,
                                const archsim_conditions* conditions, char** json, char** error) {
    clear(json);
    return guarded(error, [&] {
        require("archsim_run_json", session, model, device, json);
        *json = copy_text(to_json(answer(*session, model->model, device, texts_of(workload, conditions))));
    });
}

archsim_status archsim_ask(const archsim_model* model, archsim_question** question, char** error) {
    clear(question);
    return guarded(error, [&] {
        require("archsim_ask", model, question);
        *question =
            new archsim_question{model->model, QuestionTexts(Spelling::key), ServingTexts(Spelling::key)};
    });
}

archsim_status archsim_set(archsim_question* question, const char* field, const char* value, char** error) {
    return guarded(error, [&] {
        require("archsim_set", question, field, value);
        // Lengths are of both: of an answer, and of a server's load.
        const bool of_server = find_serving_field(field) != nullptr;
        if (find_question_field(field) != nullptr || !of_server)
            question->texts.give(field, value);
        if (of_server)
            question->server.give(field, value);
    });
}

archsim_status archsim_answer(const archsim_session* session, const archsim_question* question,
                              const char* device, archsim_estimate* estimate, char** error) {
    clear(estimate);
    return guarded(error, [&] {
        require("archsim_answer", session, question, device, estimate);
        *estimate = numbers_of(answer(*session, *question, device));
    });
}

archsim_status archsim_answer_json(const archsim_session* session, const archsim_question* question,
                                   const char* device, char** json, char** error) {
    clear(json);
    return guarded(error, [&] {
        require("archsim_answer_json", session, question, device, json);
        *json = copy_text(to_json(answer(*session, *question, device)));
    });
}

void archsim_drop(archsim_question* question) {
    delete question;
}

archsim_status archsim_make_engine(const archsim_session* session, const archsim_question* question,
                                   const char* device, archsim_engine** engine, char** error) {
    clear(engine);
    return guarded(error, [&] {
        require("archsim_make_engine", session, question, device, engine);
        const AskedServer asked = asked_server(*question);
        *engine = new archsim_engine{
            StepEngine(session->session, question->model, device, asked.conditions, asked.request)};
    });
}

archsim_status archsim_step(const archsim_engine* engine, const archsim_step_request* requests, size_t count,
                            archsim_step_cost* cost, char** error) {
    clear(cost);
    return guarded(error, [&] {
        require("archsim_step", engine, requests, cost);
        thread_local std::vector<StepRequest> batch;
        batch.clear();
        for (size_t i = 0; i < count; ++i)
            batch.push_back({requests[i].new_tokens, requests[i].cached});
        const EngineStep step = engine->engine.step(batch);
        *cost = {step.seconds, step.joules, step.low_s, step.high_s};
    });
}

archsim_status archsim_engine_cache(const archsim_engine* engine, int64_t positions, double* room_bytes,
                                    double* sequence_bytes, char** error) {
    clear(room_bytes);
    clear(sequence_bytes);
    return guarded(error, [&] {
        require("archsim_engine_cache", engine, room_bytes, sequence_bytes);
        if (positions < 1)
            throw UsageError("archsim_engine_cache: positions are counted from 1");
        *room_bytes = engine->engine.cache_room_bytes();
        *sequence_bytes = engine->engine.cache_bytes(static_cast<double>(positions));
    });
}

void archsim_free_engine(archsim_engine* engine) {
    delete engine;
}

archsim_status archsim_serve_json(const archsim_session* session, const archsim_question* question,
                                  const char* device, char** json, char** error) {
    clear(json);
    return guarded(error, [&] {
        require("archsim_serve_json", session, question, device, json);
        const AskedServer asked = asked_server(*question);
        if (asked.request.load.rate_per_s <= 0 && asked.request.plan.concurrency <= 0 &&
            asked.request.load.trace == nullptr)
            throw UsageError("a server needs a load: set rate, concurrency or trace");
        const std::vector<ServingResult> results = {
            run_serving(session->session, question->model, device, asked.conditions, asked.request)};
        *json = copy_text(
            serving_json(results, {question->model.name(), {device}, asked.conditions, asked.request}));
    });
}

void archsim_free_text(char* text) {
    delete[] text;
}
