// Work is done by as many threads as the system gives, and by one where it gives none.

#include "core/in_parallel.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <set>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace archsim;

// The first test of this file: a thread that ended leaves its stack to the next, which then needs no room.
TEST_CASE("without threads one does it all", "[core][hostile]") {
    const pid_t child = fork();
    if (child == 0) { // without room for the stack of a thread
        const rlimit none{1, 1};
        setrlimit(RLIMIT_AS, &none);
        std::atomic<int> done = 0; // where a thread starts all the same
        in_parallel(5, 4, [&](std::size_t) { ++done; });
        _exit(done == 5 ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("every number is worked on once, whatever the threads", "[core]") {
    for (const std::size_t threads : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{100}})
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{50}}) {
            std::vector<std::atomic<int>> done(count);
            in_parallel(count, threads, [&](std::size_t i) { ++done[i]; });
            for (const auto& times : done)
                CHECK(times == 1);
        }
}

TEST_CASE("what a call throws ends the work and reaches who asked", "[core]") {
    CHECK_THROWS_AS(in_parallel(1000, 4,
                                [](std::size_t i) {
                                    if (i == 10)
                                        throw std::runtime_error("ten");
                                }),
                    std::runtime_error);
}
