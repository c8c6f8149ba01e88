#pragma once
// The database and catalogue of the source tree, opened once.

#include "archsim/run/session.hpp"

namespace archsim::test {

inline const Session& shipped_session() {
    static const Session opened([] {
        SessionOptions options;
        options.data = ARCHSIM_SOURCE_DIR;
        return options;
    }());
    return opened;
}

} // namespace archsim::test
