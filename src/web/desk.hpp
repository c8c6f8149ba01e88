#pragma once
// Answers the page's questions: one session, and the models that were asked for lately. JSON in, JSON out.

#include "archsim/run/session.hpp"
#include "web/answers.hpp"

#include <list>
#include <string>
#include <string_view>

namespace archsim::web {

class Desk {
  public:
    /// Opens the data. Throws InputError when it is not there.
    explicit Desk(const SessionOptions& options = {}) : session_(options) {}

    /// The answer as a JSON object; {"error": {"kind": "usage", "message": "..."}} where there is none.
    /// Never throws.
    ///
    ///     catalogue  devices, deployments, models, what can be changed
    ///     files      paths of the graphs that a catalogue model is made of; without one: of every
    ///                language model, for "local"
    ///     model      inputs, sizes of its named dimensions, findings
    ///     rank       verdict, facts and ranking as HTML, and the rows in that order as numbers
    ///     device     everything about the model on one device as sections of HTML, its fused graph as JSON
    ///     trace      {"text"}: the schedule of the model on one device as trace events
    ///     local      the language models that run on one device, as sections of HTML
    ///     explain    why two devices differ, as sections of HTML
    ///     change     one device as the database states it and with "changes"
    ///     serve      users waiting for a language model on the devices; with limits alone, the most requests
    ///     size       how many of which of the devices hold the limits under the load
    ///     cost       money and carbon of an inference on the devices
    ///     export     {"text"}: what the tools print for the same question
    std::string answer(std::string_view question);

  private:
    Model model(const std::string& name);

    Session session_;
    std::list<std::pair<std::string, Model>> models_; ///< by name, latest first
};

} // namespace archsim::web
