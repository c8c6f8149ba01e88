#include <archsim/archsim.h>
#include <stdio.h>

int main(int argc, char** argv) {
    archsim_session* session = NULL;
    archsim_model* model = NULL;
    archsim_question* question = NULL;
    archsim_engine* engine = NULL;
    archsim_step_cost cost = {0};
    const archsim_step_request batch[] = {{1, 1000}, {1, 3000}, {512, 0}}; /* new tokens, cached ones */
    if (argc == 3 && archsim_open(NULL, &session, NULL) == 0 &&
        archsim_load(session, argv[1], &model, NULL) == 0 && archsim_ask(model, &question, NULL) == 0 &&
        archsim_make_engine(session, question, argv[2], &engine, NULL) == 0 &&
        archsim_step(engine, batch, 3, &cost, NULL) == 0)
        printf("%.3g ms (%.3g to %.3g), %.3g J\n", 1e3 * cost.seconds, 1e3 * cost.low_s, 1e3 * cost.high_s,
               cost.joules);
    archsim_free_engine(engine);
    archsim_drop(question);
    archsim_release(model);
    archsim_close(session);
}
