/* The C interface: estimates CLIP, a model of several parts, on one device, as numbers and as JSON. */

#include <archsim/archsim.h>

#include <stdio.h>
#include <string.h>

static int fail(archsim_status status, char* error) {
    fprintf(stderr, "%s\n", error != NULL ? error : "out of memory");
    archsim_free_text(error);
    return (int)status;
}

int main(void) {
    archsim_session* session = NULL;
    archsim_model* model = NULL;
    char* error = NULL;
    archsim_status status = archsim_open(NULL, &session, &error);
    if (status != ARCHSIM_OK)
        return fail(status, error);
    status = archsim_load(session, "clip-vit-b32", &model, &error);
    if (status != ARCHSIM_OK)
        return fail(status, error);

    archsim_workload workload;
    memset(&workload, 0, sizeof workload);
    workload.batch = 8;
    archsim_conditions conditions;
    memset(&conditions, 0, sizeof conditions);
    conditions.precision = "fp16";
    archsim_estimate estimate;
    status = archsim_run(session, model, &workload, "H100", &conditions, &estimate, &error);
    if (status != ARCHSIM_OK)
        return fail(status, error);
    if (estimate.outcome != ARCHSIM_ESTIMATED)
        printf("H100: %s\n", estimate.reason);
    else
        printf("H100: %.3g ms, %.3g mJ\n", 1e3 * estimate.latency_s, 1e3 * estimate.energy_per_inference_j);

    char* json = NULL;
    status = archsim_run_json(session, model, &workload, "H100", &conditions, &json, &error);
    if (status != ARCHSIM_OK)
        return fail(status, error);
    printf("%s\n", json);
    archsim_free_text(json);

    /* What goes wrong is a sentence. */
    status = archsim_run(session, model, &workload, "H1000", &conditions, &estimate, &error);
    printf("status %d: %s\n", (int)status, error != NULL ? error : "");
    archsim_free_text(error);
    archsim_release(model);
    archsim_close(session);
    return 0;
}
