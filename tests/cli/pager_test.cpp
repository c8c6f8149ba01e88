// What a reader at a terminal gets: tools run under a pseudo-terminal of 24 lines.

#include "cli/workplace.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <pty.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace archsim::test;

/// What a shell command writes to a terminal of 24 lines and 80 columns, line ends as text has them.
Said on_terminal(const Workplace& workplace, const std::string& command) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 80;
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    REQUIRE(child >= 0);
    if (child == 0) {
        const std::string line = workplace.line(command);
        execl("/bin/sh", "sh", "-c", line.c_str(), static_cast<char*>(nullptr));
        _exit(127);
    }
    Said said;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = ::read(terminal, buffer.data(), buffer.size())) > 0;)
        for (ssize_t i = 0; i < n; ++i)
            if (buffer[static_cast<std::size_t>(i)] != '\r')
                said.output += buffer[static_cast<std::size_t>(i)];
    close(terminal);
    int status = 0;
    waitpid(child, &status, 0);
    said.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return said;
}

const std::string kLong = "list_hardware_mappers --color never",
                  kShort = "list_hardware_mappers --names deployments";

} // namespace

TEST_CASE("what is longer than the terminal goes through the pager, and nothing else does", "[cli][pager]") {
    const Workplace workplace;
    const Said paged = on_terminal(workplace, "PAGER='sed s/^/paged:/' " + kLong);
    CHECK(paged.status == 0);
    CHECK_THAT(paged.output, Catch::StartsWith("paged:"));
    CHECK(paged.output.find("\npaged:") != std::string::npos);
    for (const std::string& other :
         {"PAGER='sed s/^/paged:/' " + kLong + " --no-pager", "PAGER='sed s/^/paged:/' " + kShort,
          "PAGER='sed s/^/paged:/' " + kLong + " < /dev/null",
          "PAGER='sed s/^/paged:/' " + kLong + " --output list.txt"}) {
        INFO(other);
        const Said plain = on_terminal(workplace, other);
        CHECK(plain.status == 0);
        CHECK(plain.output.find("paged:") == std::string::npos);
    }
}

TEST_CASE("a pager that is left early or does not exist loses nothing", "[cli][pager]") {
    const Workplace workplace;
    const Said left = on_terminal(workplace, "PAGER='head -n 2' " + kLong);
    CHECK(left.status == 0);
    CHECK(std::count(left.output.begin(), left.output.end(), '\n') == 2);
    const Said missing = on_terminal(workplace, "PAGER=/nowhere/pager " + kLong + " 2>/dev/null");
    CHECK(missing.status == 0);
    CHECK_THAT(missing.output, Catch::Contains("Deployments (--deployment)"));
}

TEST_CASE("text on a terminal is as wide as the terminal", "[cli][pager]") {
    const Workplace workplace;
    for (const char* tool :
         {"compare_models resnet18 --hardware A100 T4", "list_hardware_mappers --show H100",
          "compare_architectures resnet18", "analyze_comprehensive resnet18 --hardware A100"}) {
        INFO(tool);
        const Said said = on_terminal(workplace, std::string(tool) + " --no-pager --color never");
        CHECK(said.status == 0);
        std::size_t columns = 0;
        for (const char c : said.output) {
            columns = c == '\n' ? 0 : columns + ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U);
            REQUIRE(columns <= 80);
        }
    }
}
