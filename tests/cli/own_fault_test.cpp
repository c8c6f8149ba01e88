// How a tool ends when an exception reaches it: the library's own say what is wrong with the input, any other
// is a fault of ours.

#include "archsim/core/finding.hpp"
#include "common/tool.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <unistd.h>

using namespace archsim;

namespace {

struct Ending {
    int status = 0;
    std::string said; ///< on standard error
};

Ending end_of(const std::function<int()>& body) {
    std::array<char, 16> name{"some_tool"}, argument{"resnet50"};
    std::array<char*, 3> argv = {name.data(), argument.data(), nullptr};
    std::string model;
    const auto setup = [&](cli::Flags& flags) { flags.add_option("model", model, "a model"); };

    std::FILE* const caught = std::tmpfile();
    REQUIRE(caught != nullptr);
    std::fflush(stderr);
    const int kept = dup(STDERR_FILENO);
    dup2(fileno(caught), STDERR_FILENO);
    Ending ending;
    ending.status = cli::run_tool(2, argv.data(), "some_tool", "description", "examples", setup, body);
    std::fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);

    std::rewind(caught);
    std::array<char, 4096> text{};
    ending.said.assign(text.data(), std::fread(text.data(), 1, text.size(), caught));
    std::fclose(caught);
    return ending;
}

} // namespace

TEST_CASE("a fault of our own has a status of its own and says how to report it", "[cli]") {
    CHECK(end_of([] { return 0; }).status == 0);
    CHECK(end_of([]() -> int { throw UsageError("u"); }).status == 1);
    CHECK(end_of([]() -> int { throw InputError("i"); }).status == 2);
    CHECK(end_of([]() -> int { throw IncompleteError("p"); }).status == 3);
    CHECK(end_of([]() -> int { throw std::bad_alloc(); }).status == 2);

    const Ending fault = end_of([]() -> int { throw std::out_of_range("vector::_M_range_check"); });
    CHECK(fault.status == static_cast<int>(cli::Exit::fault));
    for (const char* part :
         {"a fault of some_tool itself", "vector::_M_range_check", "please report", "some_tool resnet50"})
        CHECK_THAT(fault.said, Catch::Contains(part));
    CHECK_THAT(end_of([]() -> int { throw InputError("a.onnx: is empty"); }).said,
               Catch::Equals("some_tool: a.onnx: is empty\n"));
}
