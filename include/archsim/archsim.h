#ifndef ARCHSIM_H
#define ARCHSIM_H
/**
 * @file
 * The C interface of libarchsim, for every language that can call C: open the data, load a model, estimate it
 * on devices, read numbers or JSON, free.
 *
 * Every function that can fail returns an archsim_status. On failure `*error`, where `error` is not NULL,
 * becomes a sentence that the caller frees with archsim_free_text(); on success it becomes NULL. Sessions and
 * models may be used from several threads at once; freeing one while another thread uses it is an error of
 * the caller.
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

/** Outcome of a call; the values are the exit codes of the tools. */
typedef enum archsim_status {
    ARCHSIM_OK = 0,
    ARCHSIM_USAGE = 1,      /**< an argument is off */
    ARCHSIM_INPUT = 2,      /**< a file, model or device cannot be used */
    ARCHSIM_INCOMPLETE = 3, /**< a part of the model is not understood, totals are withheld */
    ARCHSIM_FAULT = 70      /**< a fault of the library itself, not of what it was given: please report it */
} archsim_status;

/** The hardware database and the model catalogue. */
typedef struct archsim_session archsim_session;
/** A model bound to concrete sizes. */
typedef struct archsim_model archsim_model;

/** What to run and how. Zero-initialise it: every zero means the default. */
typedef struct archsim_options {
    const char* precision; /**< "fp16", "int8", "w4a16"...; NULL: "fp32" */
    const char* runtime;   /**< software stack; NULL: the device's default */
    int throughput;        /**< 0: latency of one stream; 1: saturated throughput */
    int end_to_end;        /**< 0: device time; 1: with transfers and host work */
    uint32_t devices;      /**< devices of this kind working together; 0: one */
} archsim_options;

/** The numbers of one estimate, in SI units. Intervals are nominal 90 %. */
typedef struct archsim_estimate {
    double latency_s;      /**< of the whole batch */
    double latency_low_s;  /**< lower end of the interval */
    double latency_high_s; /**< upper end of the interval */
    double throughput_per_s;
    double power_w; /**< average while busy */
    double energy_per_inference_j;
    double utilization; /**< useful operations over what the engines could do, 0 to 1 */
    double peak_memory_bytes;
    double weight_bytes;
} archsim_estimate;

/** "major.minor.patch", static. */
ARCHSIM_C_API const char* archsim_version(void);

/** Opens the data: `data_dir` holds hardware_db/ and models/; NULL finds them as the tools do. */
ARCHSIM_C_API archsim_status archsim_open(const char* data_dir, archsim_session** session, char** error);
/** Frees a session; NULL is allowed. Models stay valid. */
ARCHSIM_C_API void archsim_close(archsim_session* session);

/**
 * Loads a catalogue model or an .onnx file and binds its sizes.
 * `dims` is "NAME=VALUE" separated by commas ("height=256,width=256"), or NULL.
 */
ARCHSIM_C_API archsim_status archsim_load(const archsim_session* session, const char* model,
                                          int64_t batch_size, const char* dims, archsim_model** bound,
                                          char** error);
/** Frees a model; NULL is allowed. */
ARCHSIM_C_API void archsim_release(archsim_model* model);

/** Estimates `model` on `hardware` ("H100", "KPU-T64@3W", a device file). `options` may be NULL. */
ARCHSIM_C_API archsim_status archsim_run(const archsim_session* session, const archsim_model* model,
                                         const char* hardware, const archsim_options* options,
                                         archsim_estimate* estimate, char** error);

/**
 * The same as JSON, one row of "results" of `compare_models --format json`. A device that cannot run the
 * model is a row with its "status" and "reason", not a failed call. Free `*json` with archsim_free_text().
 */
ARCHSIM_C_API archsim_status archsim_run_json(const archsim_session* session, const archsim_model* model,
                                              const char* hardware, const archsim_options* options,
                                              char** json, char** error);

/** Frees a text that a function of this interface returned; NULL is allowed. */
ARCHSIM_C_API void archsim_free_text(char* text);

#ifdef __cplusplus
}
#endif
#endif
