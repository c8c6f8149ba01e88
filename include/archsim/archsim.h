#ifndef ARCHSIM_H
#define ARCHSIM_H
/**
 * @file
 * The C interface of libarchsim, for every language that can call C: open the data, load a model, estimate it
 * on devices, read numbers or JSON, free.
 *
 * @code
 * archsim_session* session;
 * archsim_model* model;
 * archsim_estimate answer;
 * archsim_conditions conditions = {.precision = "fp16"};
 * archsim_open(NULL, &session, NULL);
 * archsim_load(session, "clip-vit-b32", &model, NULL);
 * if (archsim_run(session, model, NULL, "H100", &conditions, &answer, NULL) == ARCHSIM_OK)
 *     printf("%s: %g s\n", answer.outcome == ARCHSIM_ESTIMATED ? "ok" : answer.reason, answer.latency_s);
 * archsim_release(model);
 * archsim_close(session);
 * @endcode
 *
 * Failures. Every function that can fail returns an archsim_status. On failure `*error`, where `error` is not
 * NULL, becomes a sentence that the caller frees with archsim_free_text() (NULL where not even the memory for
 * the sentence is there), and the result becomes NULL or zeros, never what it was before; on success `*error`
 * becomes NULL. No C++ exception leaves a function. A failed call changes nothing: the same session and model
 * may be asked again, after ARCHSIM_INPUT for want of memory too. Whatever a model file holds, a call
 * returns: a file that takes too much memory or time is refused (ARCHSIM_INPUT).
 *
 * Threads. Sessions and models may be used from several threads at once, and the answers do not depend on it;
 * `error`, results and texts belong to the thread that passes them. Freeing a session or model while another
 * thread uses it is an error of the caller. No function starts threads or processes, installs signal
 * handlers, writes files or opens connections. A signal handler must not call these functions, and a child of
 * fork() only before its parent had threads in them.
 */
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define ARCHSIM_C_API __attribute__((visibility("default")))
#else
#define ARCHSIM_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Where a statically linked program finds the data: beside these headers (as in archsim/core/export.hpp). */
#if (defined(__GNUC__) || defined(__clang__)) && !defined(ARCHSIM_BUILDING) && !defined(ARCHSIM_HEADERS_TOLD)
#define ARCHSIM_HEADERS_TOLD
__attribute__((weak)) const char* archsim_headers(void);
const char* archsim_headers(void) {
    return __FILE__;
}
#endif

/** Outcome of a call. */
typedef enum archsim_status {
    ARCHSIM_OK = 0,
    ARCHSIM_USAGE = 1,      /**< an argument is off */
    ARCHSIM_INPUT = 2,      /**< a file, model, device or name cannot be used */
    ARCHSIM_INCOMPLETE = 3, /**< a part of the model is not understood */
    ARCHSIM_FAULT = 70      /**< a fault of the library itself, not of what it was given: please report it */
} archsim_status;

/** The hardware database and the model catalogue. */
typedef struct archsim_session archsim_session;
/** A loaded model, whatever its kind: one graph, several parts, or a language model. */
typedef struct archsim_model archsim_model;

/** How much of a model runs. Zero-initialise it: every zero means the default. */
typedef struct archsim_workload {
    int64_t batch;     /**< items per inference, sequences of a prompt; 0: one */
    const char* sizes; /**< "NAME=VALUE" separated by commas ("height=256,width=256"); NULL: the model's */
    int64_t prompt_tokens; /**< a language model answers a prompt of so many tokens; 0 with an answer: 512 */
    int64_t generate_tokens; /**< with so many tokens; 0 with a prompt: the prompt alone, which makes the
                                first token; both 0: a prompt of 512 is answered with 128 */
    int single_pass; /**< 1: one forward pass of a language model, as of any other network, in place of an
                        answer */
} archsim_workload;

/** How it runs. Zero-initialise it: every zero means the default. */
typedef struct archsim_conditions {
    const char* precision; /**< "fp16", "int8", "w4a16"...; NULL: as the tools take it, a file's own format,
                              "usual" of catalogue models (the fastest that is deployed on the device), of
                              answers to prompts the checkpoint's, else "bf16" */
    const char* stack;     /**< software stack; NULL: the device's default */
    int throughput;        /**< 0: latency of one stream; 1: saturated throughput */
    int end_to_end;        /**< 0: device time; 1: with transfers and host work */
    uint32_t devices;      /**< devices of this kind working together; 0: one */
} archsim_conditions;

/** Whether a device carries a workload. */
typedef enum archsim_outcome {
    ARCHSIM_ESTIMATED = 0,
    ARCHSIM_UNSUPPORTED = 1,   /**< the device or its stack cannot run it */
    ARCHSIM_DOES_NOT_FIT = 2,  /**< its memory is too small */
    ARCHSIM_NOT_UNDERSTOOD = 3 /**< a part of the model is not understood, totals are withheld */
} archsim_outcome;

/** The numbers of one estimate, in SI units; 0 where there is none. Intervals are nominal 90 %. */
typedef struct archsim_estimate {
    archsim_outcome outcome;
    char reason[256];      /**< one sentence where there is no estimate, cut to fit; else empty */
    double latency_s;      /**< of the whole batch */
    double latency_low_s;  /**< lower end of the interval */
    double latency_high_s; /**< upper end of the interval */
    double throughput_per_s;
    double power_w; /**< average while busy */
    double energy_per_inference_j;
    double utilization; /**< useful operations over what the engines could do, 0 to 1 */
    double peak_memory_bytes;
    double weight_bytes;
    double time_to_first_token_s;   /**< of a prompt; else 0 */
    double time_per_output_token_s; /**< of a prompt; else 0 */
    char executed_precision[64];    /**< format that runs, which may be another than asked for; cut to fit */
} archsim_estimate;

/** "major.minor.patch", static. */
ARCHSIM_C_API const char* archsim_version(void);

/** Opens the data: `data_dir` holds hardware_db/ and models/; NULL finds them as the tools do. */
ARCHSIM_C_API archsim_status archsim_open(const char* data_dir, archsim_session** session, char** error);
/** Frees a session; NULL is allowed. Models stay valid. */
ARCHSIM_C_API void archsim_close(archsim_session* session);

/**
 * Takes measurements of one's own, a line each: "resnet50 int8 on Hailo-8L = 3.1ms". From then on every
 * estimate of their devices and stacks is what they and the error model say together. Each call replaces the
 * rows of the one before; "" forgets them. Not while another thread uses the session.
 */
ARCHSIM_C_API archsim_status archsim_given(archsim_session* session, const char* rows, char** error);

/** Loads a catalogue model by name or alias, or an .onnx file. An unknown name tells the nearest ones. */
ARCHSIM_C_API archsim_status archsim_load(const archsim_session* session, const char* name,
                                          archsim_model** model, char** error);
/** Frees a model; NULL is allowed. */
ARCHSIM_C_API void archsim_release(archsim_model* model);

/**
 * Estimates `model` on `device` ("H100", "KPU-T64@3W", a device file). `workload` and `conditions` may be
 * NULL. A device that cannot carry the workload is an estimate whose outcome and reason say why; the call
 * fails for names that do not exist.
 */
ARCHSIM_C_API archsim_status archsim_run(const archsim_session* session, const archsim_model* model,
                                         const archsim_workload* workload, const char* device,
                                         const archsim_conditions* conditions, archsim_estimate* estimate,
                                         char** error);

/**
 * The same as JSON, one row of "results" of `compare_models --format json`, parts and phases included. Free
 * `*json` with archsim_free_text().
 */
ARCHSIM_C_API archsim_status archsim_run_json(const archsim_session* session, const archsim_model* model,
                                              const archsim_workload* workload, const char* device,
                                              const archsim_conditions* conditions, char** json,
                                              char** error);

/** A question of a model, put together field by field: everything that a tool can be asked, which the
 * structures above do not hold. */
typedef struct archsim_question archsim_question;

/**
 * Begins a question of a model, which may be released before the question is.
 *
 * @code
 * archsim_question* question;
 * archsim_ask(model, &question, NULL);
 * archsim_set(question, "prompt_tokens", "2k", NULL);
 * archsim_set(question, "context", "4096", NULL);
 * archsim_answer(session, question, "H100", &answer, NULL);
 * archsim_drop(question);
 * @endcode
 */
ARCHSIM_C_API archsim_status archsim_ask(const archsim_model* model, archsim_question** question,
                                         char** error);

/**
 * Sets a field by its name, that of its flag or of its key in JSON: "precision", "batch_size",
 * "prompt_tokens", "generate_tokens", "context", "sampling", "weights", "kv_cache", "runtime", "devices",
 * "parallel", "scenario", "scope", "fps", "battery", "strict_fp32" ("true") and so on, or of serve_model for
 * what a server is asked: "rate", "trace", "max_sequences", "drafted". A field of names and sizes ("dims",
 * "inputs", "input_shapes") takes "NAME=VALUE" and is set once for every name. Numbers may have letters:
 * "8k". The call fails for a field or a value that cannot be and leaves the question as it was; whether the
 * fields agree is seen when it is answered.
 */
ARCHSIM_C_API archsim_status archsim_set(archsim_question* question, const char* field, const char* value,
                                         char** error);

/** As archsim_run(), for a question. */
ARCHSIM_C_API archsim_status archsim_answer(const archsim_session* session, const archsim_question* question,
                                            const char* device, archsim_estimate* estimate, char** error);

/** As archsim_run_json(), for a question. */
ARCHSIM_C_API archsim_status archsim_answer_json(const archsim_session* session,
                                                 const archsim_question* question, const char* device,
                                                 char** json, char** error);

/** Frees a question; NULL is allowed. */
ARCHSIM_C_API void archsim_drop(archsim_question* question);

/** One engine of a server: a model on devices under a stack, made once for many steps. */
typedef struct archsim_engine archsim_engine;

/** A sequence in a step of an engine. */
typedef struct archsim_step_request {
    int64_t new_tokens; /**< computed in this step: 1 of a sequence that generates, a prompt or its chunk */
    int64_t cached;     /**< positions of it that the cache holds already */
} archsim_step_request;

/** What a step of an engine costs, all its devices together. */
typedef struct archsim_step_cost {
    double seconds;
    double joules;
    double low_s;  /**< lower end of the 90 % interval of the time */
    double high_s; /**< upper end */
} archsim_step_cost;

/**
 * Makes the engine of a question on a device: its formats, stack and layout ("parallel", "devices") count,
 * its prompt and answer say what must fit beside the weights, and "drafted", "whole_graph" and "step_tokens"
 * how the server runs. Session, question and model may be freed before it. A device that cannot serve the
 * model is ARCHSIM_INPUT with the reason.
 */
ARCHSIM_C_API archsim_status archsim_make_engine(const archsim_session* session,
                                                 const archsim_question* question, const char* device,
                                                 archsim_engine** engine, char** error);

/**
 * Prices a step over `count` sequences: the function that serve_model's own simulation steps by. Any batch
 * may be asked, of several threads at once; a step like earlier ones takes microseconds, the first of a size
 * milliseconds. A sequence with one new token (or as many as are drafted, and one) behind cached ones
 * generates, any other is a prompt.
 *
 * @code
 * archsim_engine* engine;
 * archsim_step_cost cost;
 * archsim_step_request batch[2] = {{1, 1000}, {512, 0}};
 * archsim_make_engine(session, question, "H100", &engine, NULL);
 * archsim_step(engine, batch, 2, &cost, NULL);
 * archsim_free_engine(engine);
 * @endcode
 */
ARCHSIM_C_API archsim_status archsim_step(const archsim_engine* engine, const archsim_step_request* requests,
                                          size_t count, archsim_step_cost* cost, char** error);

/** Bytes for caches on all devices of an engine, and those of one sequence of `positions`. */
ARCHSIM_C_API archsim_status archsim_engine_cache(const archsim_engine* engine, int64_t positions,
                                                  double* room_bytes, double* sequence_bytes, char** error);

/** Frees an engine; NULL is allowed. */
ARCHSIM_C_API void archsim_free_engine(archsim_engine* engine);

/**
 * Serves a load on a device, as serve_model does, and answers in its JSON. The question has the load in
 * fields of serve_model's flags: "rate", "arrivals", "concurrency", "trace", "requests", "prompt_tokens",
 * "generate_tokens", "max_sequences" and so on. Free `*json` with archsim_free_text().
 */
ARCHSIM_C_API archsim_status archsim_serve_json(const archsim_session* session,
                                                const archsim_question* question, const char* device,
                                                char** json, char** error);

/** Frees a text that a function of this interface returned; NULL is allowed. */
ARCHSIM_C_API void archsim_free_text(char* text);

#ifdef __cplusplus
}
#endif
#endif
