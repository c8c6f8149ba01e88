#include <archsim/archsim.h>
#include <stdio.h>

int main(int argc, char** argv) {
    archsim_session* session = NULL;
    archsim_model* model = NULL;
    archsim_question* question = NULL;
    archsim_engine* engine = NULL;
    archsim_step_cost cost = {0};
    char* error = NULL;
    const archsim_step_request batch[] = {{1, 1000}, {1, 3000}, {512, 0}}; /* new tokens, cached ones */
    const archsim_status status =
        archsim_open(NULL, &session, &error) ||
        archsim_load(session, argc > 1 ? argv[1] : "qwen3-8b", &model, &error) ||
        archsim_ask(model, &question, &error) ||
        archsim_make_engine(session, question, argc > 2 ? argv[2] : "H100", &engine, &error) ||
        archsim_step(engine, batch, 3, &cost, &error);
    if (status == ARCHSIM_OK)
        printf("%.3g ms (%.3g to %.3g), %.3g J\n", 1e3 * cost.seconds, 1e3 * cost.low_s, 1e3 * cost.high_s,
               cost.joules);
    else
        fprintf(stderr, "%s\n", error);
    archsim_free_text(error);
    archsim_free_engine(engine);
    archsim_drop(question);
    archsim_release(model);
    archsim_close(session);
    return status;
}
