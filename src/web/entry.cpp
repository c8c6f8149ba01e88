// The exports of the WebAssembly module: archsim_open(), then archsim_answer() as often as wanted.

#include "web/desk.hpp"

#include <memory>

static std::unique_ptr<archsim::web::Desk> desk;
static std::string text;

extern "C" {

/// Opens the data that is built in and the models below /usr/share/archsim. Returns an empty text, or what is
/// wrong.
const char* archsim_open_desk() {
    try {
        desk = std::make_unique<archsim::web::Desk>();
        text.clear();
    } catch (const std::exception& problem) {
        text = problem.what();
    }
    return text.c_str();
}

/// The answer to a question, valid until the next call.
const char* archsim_answer(const char* question) {
    text = desk->answer(question);
    return text.c_str();
}
}
