// Memory that serving engines say they take, against ours: tests/measured/memory_logs.csv.

#include "archsim/run/serve.hpp"
#include "run/fit/csv_reader.hpp"
#include "run/serving/server.hpp"
#include "support/shipped_session.hpp"

#include "core/text_file.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace archsim;
using archsim::test::shipped_session;

TEST_CASE("weights and caches are those that serving engines log, three per cent at the median",
          "[serving][memory]") {
    const auto rows = parse_csv(read_text_file(ARCHSIM_SOURCE_DIR "/tests/measured/memory_logs.csv"));
    REQUIRE(rows.size() > 5);
    std::vector<double> errors;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const std::vector<std::string>& f = rows[i].fields;
        INFO(f[1] << " in " << f[2] << ", tp=" << f[3] << ", " << f[4] << ": " << f[7]);
        Conditions conditions;
        conditions.stack = f[0];
        conditions.precision = precision_named(f[2]);
        ServingRequest request;
        request.load.rate_per_s = 1;
        request.load.count = 1;
        request.parallelism = Parallelism{.tensor = std::stoll(f[3])};
        // A device that holds each of them: what a model takes does not depend on it.
        const Server server(shipped_session(), shipped_session().load(f[1]), "B300", conditions, request);
        INFO(server.basis().reason);
        REQUIRE(server.ready());
        const double ours = f[4] == "weights" ? server.prices().weight_bytes()
                                              : server.basis().cache_bytes_per_token /
                                                    static_cast<double>(request.parallelism->tensor);
        const double logged = std::stod(f[5]) * (f[6] == "GiB" ? 0x1p30 : 1);
        errors.push_back(std::abs(ours / logged - 1));
        CAPTURE(ours, logged);
        CHECK(errors.back() < 0.1);
    }
    std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2),
                     errors.end());
    CHECK(errors[errors.size() / 2] < 0.03);
}
