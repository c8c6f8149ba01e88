/* The C interface: estimates ResNet-50 on one device, as numbers and as JSON. */

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
    status = archsim_load(session, "resnet50", 1, "height=224,width=224", &model, &error);
    if (status != ARCHSIM_OK)
        return fail(status, error);

    archsim_options options;
    memset(&options, 0, sizeof options);
    options.precision = "fp16";
    archsim_estimate estimate;
    status = archsim_run(session, model, "H100", &options, &estimate, &error);
    if (status != ARCHSIM_OK)
        return fail(status, error);
    printf("H100: %.3g ms, %.3g mJ\n", 1e3 * estimate.latency_s, 1e3 * estimate.energy_per_inference_j);

    char* json = NULL;
    status = archsim_run_json(session, model, "H100", &options, &json, &error);
    if (status != ARCHSIM_OK)
        return fail(status, error);
    printf("%s\n", json);
    archsim_free_text(json);

    /* What goes wrong is a sentence. */
    status = archsim_run(session, model, "H1000", &options, &estimate, &error);
    printf("status %d: %s\n", (int)status, error != NULL ? error : "");
    archsim_free_text(error);
    archsim_release(model);
    archsim_close(session);
    return 0;
}
