// measure_process RUNS COMMAND [ARGUMENT...]: runs a command and prints the median of its milliseconds and
// the largest of its peak resident kilobytes. A process of its own, because a child's peak starts at the size
// of the process that it was forked from: that has to be small.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
    const int runs = argc > 2 ? std::atoi(argv[1]) : 0;
    if (runs < 1)
        return std::fputs("usage: measure_process RUNS COMMAND [ARGUMENT...]\n", stderr), 1;
    std::vector<double> milliseconds;
    long peak = 0;
    for (int run = 0; run < runs; ++run) {
        const auto start = std::chrono::steady_clock::now();
        const pid_t child = fork();
        if (child == 0) {
            if (const int sink = open("/dev/null", O_WRONLY); sink >= 0)
                dup2(sink, STDOUT_FILENO);
            execv(argv[2], argv + 2);
            _exit(127);
        }
        int status = 0;
        rusage usage{};
        constexpr int kIncomplete =
            3; // a device cannot run the model: the documented status of a whole answer
        if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) ||
            (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != kIncomplete))
            return std::fprintf(stderr, "measure_process: %s failed\n", argv[2]), 2;
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        milliseconds.push_back(took.count());
        peak = std::max(peak, usage.ru_maxrss);
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    std::printf("%.3f %ld\n", milliseconds[milliseconds.size() / 2], peak);
    return 0;
}
