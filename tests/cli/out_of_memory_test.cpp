// The main commands with a memory that ends: at whichever request it fails, the tool says so and ends with a
// documented status.

#include "support/instrumented.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <sys/wait.h>
#include <vector>

#ifndef ARCHSIM_INSTRUMENTED // sanitizers have an allocator of their own

namespace {

struct Run {
    int status = 0;
    std::string said;
};

Run run_tool(const std::string& environment, const std::string& command) {
    const std::string line = "ARCHSIM_DATA_DIR=" ARCHSIM_SOURCE_DIR " LD_PRELOAD=" ARCHSIM_TOOL_DIR
                             "/libarchsim_failing_malloc.so " +
                             environment + " " ARCHSIM_TOOL_DIR "/" + command +
                             " 3>&1 >/dev/null 2>/dev/null";
    Run run;
    std::FILE* pipe = popen(("sh -c '" + line + "'").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 256> part{};
    while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe))
        run.said.append(part.data(), n);
    const int ended = pclose(pipe);
    run.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    return run;
}

const std::vector<std::string> kCommands = {"compare_models mobilenet_v2 --hardware H100 Hailo-8",
                                            "check_model mobilenet_v2 --hardware Hailo-8",
                                            "profile_graph mobilenet_v2"};

/// Fails every `stride`-th request, the first hundred one by one; the commands and points that end otherwise
/// than documented.
std::set<std::string> faults(long stride) {
    std::set<std::string> bad;
    for (const std::string& command : kCommands) {
        const Run whole = run_tool("ARCHSIM_COUNT_TO=3", "" + command);
        const long requests = std::atol(whole.said.c_str());
        CHECK(whole.status == 0);
        CHECK(requests > 1000);
        for (const char* on : {"", "ARCHSIM_FAIL_ON=1 "})
            for (long at = 1; at <= requests; at += at < 100 && stride < 1000 ? 1 : stride) {
                const Run run = run_tool(std::string(on) + "ARCHSIM_FAIL_AT=" + std::to_string(at), command);
                if (run.status > 4)
                    bad.insert(command + ", " + on + "request " + std::to_string(at) + ": status " +
                               std::to_string(run.status));
            }
    }
    return bad;
}

} // namespace

TEST_CASE("a tool whose memory ends says so") {
    for (const std::string& fault : faults(5003))
        FAIL_CHECK(fault);
}

// Reading a folder is a promise of the standard library not to throw, and takes memory for every name.
TEST_CASE("a tool whose memory ends while it reads a folder says so") {
    const std::string command = "discover_models --top 1";
    const long requests = std::atol(run_tool("ARCHSIM_COUNT_TO=3", command).said.c_str());
    REQUIRE(requests > 1000);
    for (long at = 100; at <= std::min(requests, 4000L); at += 97) {
        const Run run = run_tool("ARCHSIM_FAIL_AT=" + std::to_string(at), command);
        INFO(command << ", request " << at);
        CHECK(run.status <= 4);
    }
}

TEST_CASE("a tool whose memory ends says so, at every hundredth request", "[.][long]") {
    for (const std::string& fault : faults(101))
        FAIL_CHECK(fault);
}

#endif
