#include "core/read_once.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>
#include <thread>
#include <vector>

TEST_CASE("a reader that throws is run again, one that does not is run once", "[core]") {
    archsim::ReadOnce once;
    int runs = 0;
    const auto damaged = [&] {
        ++runs;
        throw std::runtime_error("damaged");
    };
    CHECK_THROWS(once.run(damaged));
    CHECK_THROWS(once.run(damaged));
    CHECK(runs == 2);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] { once.run([&] { ++runs; }); });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(runs == 3);
}
