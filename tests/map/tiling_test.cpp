// The least traffic of a contraction: against published bounds, an exhaustive search and the laws that a
// minimum keeps.

#include "map/tiling.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace archsim::tiling;

namespace {

std::vector<std::map<std::string, std::string>> rows_of(const std::string& name) {
    std::ifstream file(std::string(ARCHSIM_SOURCE_DIR) + "/tests/accelerators/" + name);
    std::vector<std::string> heads;
    std::vector<std::map<std::string, std::string>> rows;
    for (std::string line; std::getline(file, line);) {
        std::istringstream cells(line);
        std::vector<std::string> values;
        for (std::string cell; std::getline(cells, cell, ',');)
            values.push_back(cell);
        if (heads.empty()) {
            heads = values;
            continue;
        }
        auto& row = rows.emplace_back();
        for (std::size_t i = 0; i < values.size(); ++i)
            row[heads[i]] = values[i];
    }
    return rows;
}

double once(const Nest& n) {
    Limits all;
    all.shared = 1e30;
    return least_traffic(n, all).bytes;
}

/// 2 M N K / sqrt(S) - 2 S elements or, of convolutions whose taps share inputs, over sqrt(taps per stride),
/// and never less than every element once: no schedule of any kind moves less (Hong and Kung 1981 with the
/// constant of Smith et al. 2019; Chen et al. 2020).
double lower_bound_elements(const Nest& n, double buffer) {
    const double taps = n.kernel[0] * n.kernel[1], outputs = n.images * n.rows * n.cols * n.outputs;
    const double shared = std::max(1.0, n.kernel[0] / n.stride[0]) * std::max(1.0, n.kernel[1] / n.stride[1]);
    return std::max(once(n),
                    n.groups * (2 * outputs * n.inputs * taps / std::sqrt(shared * buffer) - 2 * buffer));
}

Nest random_nest(std::mt19937& random) {
    const auto pick = [&](std::initializer_list<double> of) { return *(of.begin() + random() % of.size()); };
    Nest n;
    n.images = pick({1, 1, 4, 7});
    n.outputs = pick({1, 3, 17, 64, 100, 512});
    n.inputs = pick({1, 3, 24, 64, 129, 512});
    n.rows = pick({1, 7, 14, 28, 55, 113});
    n.cols = pick({1, 7, 14, 28, 55, 113});
    const double window = pick({1, 1, 3, 5, 7}), stride = pick({1, 1, 2, 3}), dilation = pick({1, 1, 2});
    n.kernel = {window, window};
    n.stride = {stride, stride};
    n.dilation = {dilation, dilation};
    n.groups = pick({1, 1, 1, 8});
    if (random() % 2 == 0) // zeros around the image
        n.extent = {n.rows * stride, n.cols * stride};
    return n;
}

Limits random_limits(std::mt19937& random) {
    Limits l;
    l.whole_rows = random() % 3 == 0;
    l.all_inputs = random() % 3 == 0;
    l.double_buffered = random() % 2 == 0;
    l.keeps_rows = random() % 3 == 0;
    l.output_grain = random() % 3 == 0 ? 16 : 1;
    l.width = {1 + static_cast<double>(random() % 2), 1, 1 + static_cast<double>(random() % 4)};
    l.keeps_smaller = random() % 3 == 0;
    if (random() % 2 == 0)
        l.runs[random() % kStationary] = false;
    return l;
}

} // namespace

TEST_CASE("tiled traffic is between the known bounds and 1.05 of an exhaustive search") {
    std::map<std::string, double> with_less_room;
    const auto rows = rows_of("theory_bounds.csv");
    REQUIRE(rows.size() == 160);
    for (const auto& row : rows) {
        const auto number = [&](const char* name) { return std::stod(row.at(name)); };
        Nest n;
        n.inputs = number("c");
        n.outputs = number("k");
        n.kernel = {number("r"), number("r")};
        n.stride = {number("stride"), number("stride")};
        n.rows = number("p");
        n.cols = number("q");
        Limits limits;
        limits.shared = number("buffer_words");
        const Tiling t = least_traffic(n, limits);
        INFO(row.at("shape") << " with " << limits.shared << ": " << t.bytes);
        CHECK(t.bytes >= number("lower_bound_words") * (1 - 1e-9));
        CHECK(t.bytes <= number("searched_minimum_words") * 1.05);
        CHECK(lower_bound_elements(n, limits.shared) == Approx(number("lower_bound_words")).epsilon(1e-3));
        CHECK(t.held <= limits.shared);
        double& before = with_less_room.try_emplace(row.at("shape"), t.bytes).first->second;
        CHECK(t.bytes <= before);
        before = t.bytes;
    }
}

TEST_CASE("more room never moves more, and enough of it moves everything once") {
    std::mt19937 random(7);
    for (int i = 0; i < 400; ++i) {
        const Nest n = random_nest(random);
        Limits limits = random_limits(random);
        double before = std::numeric_limits<double>::infinity();
        Limits whole = limits;
        whole.shared = 1e30;
        const double least = least_traffic(n, whole).bytes;
        for (double room = 64; room < 1e9; room *= 1.7) {
            limits.shared = room;
            const Tiling t = least_traffic(n, limits);
            INFO("network " << i << ", room " << room << ", order " << t.order);
            CHECK(t.bytes <= before * (1 + 1e-12));
            CHECK(t.bytes >= least * (1 - 1e-12));
            for (const double passes : t.passes)
                CHECK(passes >= 1);
            before = t.bytes;
        }
        CHECK(before == Approx(least));
    }
}

TEST_CASE("what a machine cannot run never moves less") {
    std::mt19937 random(11);
    for (int i = 0; i < 400; ++i) {
        const Nest n = random_nest(random);
        Limits free;
        free.shared = std::pow(10.0, 2 + static_cast<double>(random() % 5));
        Limits bound = free;
        switch (random() % 5) {
        case 0:
            bound.whole_rows = true;
            break;
        case 1:
            bound.all_inputs = true;
            break;
        case 2:
            bound.runs[random() % kStationary] = false;
            break;
        case 3:
            bound.keeps_smaller = true;
            break;
        default:
            bound.double_buffered = true;
        }
        INFO("network " << i);
        // The search is near the minimum, not at it: a limit may steer it to a better tile.
        CHECK(least_traffic(n, bound).bytes >= least_traffic(n, free).bytes * 0.95);
        CHECK(least_traffic(n, free).bytes >= once(n) * (1 - 1e-12));
    }
}

TEST_CASE("the smaller operand stays and fills what the smallest tile of the other leaves") {
    // NVDLA's convolution buffer: 196 KiB of inputs beside 32 of 1024 output channels, 32 KiB of 1 MiB, pass
    // once.
    Nest n;
    n.rows = n.cols = 14;
    n.inputs = n.outputs = 1024;
    Limits limits;
    limits.whole_rows = limits.all_inputs = limits.keeps_rows = limits.keeps_smaller = true;
    limits.output_grain = 32;
    limits.own[2] = 1e9;
    limits.shared = 1024 * (14 * 14 + 32);
    CHECK(least_traffic(n, limits).bytes == once(n));
    // A byte less, and weights pass for each part of the inputs: 13 rows of 14.
    limits.shared -= 1;
    CHECK(least_traffic(n, limits).passes[1] == 2);
    limits.shared = 1024 * 64; // 2 rows
    CHECK(least_traffic(n, limits).passes[1] == 7);
    // Where 256 channels do not fit, inputs have half of the buffer: 4 rows.
    limits.output_grain = 256;
    limits.shared = 1024 * 128;
    CHECK(least_traffic(n, limits).passes[1] == 4);
    // Weights are the smaller: 16 of 32 channels beside one row, and inputs pass for each half of them.
    n.rows = n.cols = 56;
    n.outputs = 32;
    limits.output_grain = 16;
    limits.shared = 1024 * (56 + 16);
    CHECK(least_traffic(n, limits).passes == std::array<double, kOperands>{2, 1, 1});
}

TEST_CASE("operands with buffers of their own do not crowd each other out") {
    Nest n;
    n.rows = 256;
    n.outputs = 128;
    n.inputs = 256;
    Limits limits;
    limits.own = {4096, 32768, 4096};
    const Tiling t = least_traffic(n, limits);
    CHECK(t.passes[1] == 1); // weights fit whole
    CHECK(t.bytes == once(n));
    limits.own[1] = 16384; // half of them
    CHECK(least_traffic(n, limits).bytes > once(n));
}
