#pragma once
// What a session was told, in keys of questions: one that was asked with measurements, or of a device or
// stack that somebody described, is another.

#include "archsim/run/session.hpp"

#include <string>
#include <string_view>

namespace archsim {

/// Stands for what Session::given() took, whatever the order, as far as estimates follow it: of which device,
/// stack and kind of time, and how far from its estimate; and the files of the device and its stack where
/// they are not the library's own. Empty: nothing was given.
std::string measured_key(const Session& session, std::string_view device);
/// Of the session that made a result.
std::string measured_key(const Result& result);

/// A question_key() with "measured" as one more member; as it is where nothing was given.
std::string with_measured(std::string question_key, std::string_view measured);

} // namespace archsim
