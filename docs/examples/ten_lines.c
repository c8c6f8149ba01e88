#include <archsim/archsim.h>
#include <stdio.h>

int main(int argc, char** argv) {
    archsim_session* session = NULL;
    archsim_model* model = NULL;
    archsim_estimate e = {0};
    const archsim_conditions conditions = {.precision = "fp16"};
    if (argc == 2 && archsim_open(NULL, &session, NULL) == 0 &&
        archsim_load(session, argv[1], &model, NULL) == 0 &&
        archsim_run(session, model, NULL, "H100", &conditions, &e, NULL) == 0)
        printf("%.3g ms, %.3g mJ\n", 1e3 * e.latency_s, 1e3 * e.energy_per_inference_j);
    archsim_release(model);
    archsim_close(session);
}
