#include <archsim/archsim.h>
#include <stdio.h>

int main(int argc, char** argv) {
    archsim_session* session = NULL;
    archsim_model* model = NULL;
    archsim_estimate e = {0};
    char* error = NULL;
    const archsim_conditions conditions = {.precision = "fp16"};
    archsim_status status = archsim_open(NULL, &session, &error);
    if (status == ARCHSIM_OK)
        status = archsim_load(session, argc > 1 ? argv[1] : "resnet50", &model, &error);
    if (status == ARCHSIM_OK)
        status = archsim_run(session, model, NULL, "H100", &conditions, &e, &error);
    if (status != ARCHSIM_OK)
        fprintf(stderr, "%s\n", error);
    else if (e.outcome != ARCHSIM_ESTIMATED)
        fprintf(stderr, "%s\n", e.reason);
    else
        printf("%.3g ms, %.3g mJ\n", 1e3 * e.latency_s, 1e3 * e.energy_per_inference_j);
    archsim_free_text(error);
    archsim_release(model);
    archsim_close(session);
    return status != ARCHSIM_OK ? (int)status : (int)e.outcome;
}
