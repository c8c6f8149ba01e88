#pragma once
// All that most programs need: models, devices, estimates, comparisons, servers, and reports of them. What
// extends the library (a mapper, an operator, a fusion policy, a renderer, an importer) is in
// archsim/extend/; archsim/archsim.h is the interface for C.

#include "archsim/core/finding.hpp"
#include "archsim/core/version.hpp"
#include "archsim/hardware/database.hpp"
#include "archsim/run/compare_models.hpp"
#include "archsim/run/serve.hpp"
#include "archsim/run/session.hpp"
#include "archsim/run/step.hpp"
