// Files of sweeps: interrupted, damaged, continued, in shards.

#include "answers/sweep/sweep_file.hpp"
#include "support/read_file.hpp"
#include "support/shipped_session.hpp"
#include "support/small_sweep.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace archsim;
using test::all_rows, test::as_text, test::small_request;
namespace fs = std::filesystem;

namespace {

struct SweepFolder {
    fs::path path = fs::temp_directory_path() / ("archsim_sweep_" + std::to_string(getpid()));
    SweepFolder() { fs::create_directories(path); }
    ~SweepFolder() { fs::remove_all(path); }
};

/// Ends a run in the middle, as an exception or a signal does: rows and their log stay.
void interrupt(const Sweep& sweep, const fs::path& file, RowFormat format = RowFormat::csv) {
    struct Enough {};
    fs::remove(file);
    try {
        std::uint64_t seen = 0;
        write_sweep(sweep, file,
                    {.format = format, .threads = 1, .progress = {}, .row = [&](const SweepRow&) {
                         if (++seen > sweep.size() / 2)
                             throw Enough();
                     }});
    } catch (const Enough&) {
    }
}

/// Points enough for several spans of rows.
SweepRequest several_spans() {
    SweepRequest q;
    q.models = {"resnet18"};
    q.hardware = {"H100"};
    q.axes = {parse_sweep_axis("bandwidth=0.5x..2x:1500")};
    return q;
}

} // namespace

TEST_CASE("damaged rows or a damaged log of an interrupted sweep are not believed", "[sweep]") {
    const SweepFolder folder;
    const Sweep sweep(test::shipped_session(), several_spans());
    const fs::path file = folder.path / "s.csv", partial = file.string() + ".partial";
    write_sweep(sweep, file, {});
    const std::string whole = test::read(file);
    interrupt(sweep, file);
    const std::string rows = test::read(partial), log = test::read(partial.string() + ".log");
    REQUIRE(std::count(log.begin(), log.end(), '\n') >= 3);
    std::uint64_t seed = 7;
    const auto below = [&seed](std::size_t limit) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>((seed >> 33U) % limit);
    };
    for (int i = 0; i < 60; ++i) {
        std::string damaged_rows = rows, damaged_log = log;
        std::string& damaged = i % 3 == 0 ? damaged_log : damaged_rows;
        const std::size_t at = below(damaged.size());
        switch (i % 4) {
        case 0: // a bit
            damaged[at] = static_cast<char>(damaged[at] ^ (1 << below(8)));
            break;
        case 1: // a hole
            damaged.erase(at, 1 + below(300));
            break;
        case 2: // something twice
            damaged.insert(at, damaged.substr(at, 1 + below(300)));
            break;
        default: // zeros, as a crash of the system leaves them
            std::fill(damaged.begin() + static_cast<std::ptrdiff_t>(at), damaged.end(), '\0');
        }
        fs::remove(file);
        std::ofstream(partial, std::ios::binary) << damaged_rows;
        std::ofstream(partial.string() + ".log", std::ios::binary) << damaged_log;
        INFO(i << " at " << at);
        try {
            write_sweep(sweep, file, {.resume = true, .progress = {}, .row = {}});
            CHECK(test::read(file) == whole);
        } catch (const InputError& refused) {
            CHECK_FALSE(fs::exists(file));
            fs::remove(partial);
            fs::remove(partial.string() + ".log");
        }
    }
    // A finished file that was changed is neither done nor merged.
    std::string changed = whole;
    changed[changed.size() / 2] ^= 1;
    write_sweep(sweep, file, {});
    std::ofstream(file, std::ios::binary) << changed;
    CHECK_THROWS_WITH(write_sweep(sweep, file, {.resume = true, .progress = {}, .row = {}}),
                      Catch::Contains("is not what"));
    CHECK_THROWS_WITH(merge_sweeps({file}, folder.path / "merged.csv"), Catch::Contains("is not what"));
    CHECK_FALSE(fs::exists(folder.path / "merged.csv"));
}

TEST_CASE("one process at a time writes a sweep", "[sweep]") {
    const SweepFolder folder;
    const Sweep sweep(test::shipped_session(), small_request());
    const fs::path file = folder.path / "s.csv";
    int refused = 0;
    write_sweep(sweep, file, {.progress = {}, .row = [&](const SweepRow& row) {
                                  if (row.point != 20)
                                      return;
                                  for (const bool resume : {false, true})
                                      try {
                                          write_sweep(sweep, file, {.resume = resume});
                                      } catch (const InputError& problem) {
                                          CHECK_THAT(problem.what(), Catch::Contains("another process"));
                                          ++refused;
                                      }
                              }});
    CHECK(refused == 2);
    CHECK(test::read(file) == as_text(all_rows(sweep, 1), sweep, RowFormat::csv));
}

TEST_CASE("a sweep is not continued or merged when what its names stand for has changed", "[sweep]") {
    const SweepFolder folder;
    const fs::path model = folder.path / "net.onnx", overlay = folder.path / "overlay",
                   file = folder.path / "s.csv";
    const auto use_model = [&](const char* name) {
        fs::copy_file(fs::path(ARCHSIM_SOURCE_DIR) / "models/onnx" / name, model,
                      fs::copy_options::overwrite_existing);
    };
    std::ifstream stated(fs::path(ARCHSIM_SOURCE_DIR) / "hardware_db/gpu/A100.json");
    const std::string device{std::istreambuf_iterator<char>(stated), {}};
    fs::create_directories(overlay / "gpu");
    const auto use_device = [&](const std::string& text) {
        std::ofstream(overlay / "gpu/A100.json") << text;
    };
    const auto request = [&] {
        SweepRequest q = several_spans();
        q.models = {model.string()};
        q.hardware = {"A100"};
        q.overlays = {overlay};
        return q;
    };
    use_model("mobilenet_v2.onnx");
    use_device(device);
    const auto session = [&] { return Session({.hardware_overlays = {overlay}}); };
    {
        const Session before = session();
        interrupt(Sweep(before, request()), file);
    }
    const auto resume = [&] {
        const Session now = session();
        return write_sweep(Sweep(now, request()), file, {.resume = true, .progress = {}, .row = {}});
    };
    use_model("resnet18.onnx");
    CHECK_THROWS_WITH(resume(), Catch::Contains("changed since"));
    use_model("mobilenet_v2.onnx");
    std::string other = device;
    const auto cite = other.find("\"name\"");
    REQUIRE(cite != std::string::npos);
    other.insert(other.find(':', cite) + 3, "Another ");
    use_device(other);
    CHECK_THROWS_WITH(resume(), Catch::Contains("changed since"));
    use_device(device);
    CHECK(resume() > 0); // as it was
    CHECK(resume() == 0);
}

TEST_CASE("an interrupted sweep continues without loss or doubling, and another request is refused",
          "[sweep]") {
    const SweepFolder folder;
    const Sweep sweep(test::shipped_session(), small_request());
    for (const auto& [format, name] :
         {std::pair(RowFormat::csv, "s.csv"), std::pair(RowFormat::ndjson, "s.ndjson")}) {
        const fs::path file = folder.path / name, partial = file.string() + ".partial";
        write_sweep(sweep, file, {.format = format, .threads = 2, .progress = {}, .row = {}});
        const std::string whole = test::read(file);
        CHECK(whole == as_text(all_rows(sweep, 1), sweep, format));
        CHECK_FALSE(fs::exists(partial));
        // Cut anywhere: in the header, behind it, in the middle of a line, at the end; with its log or
        // without.
        for (const bool logged : {true, false})
            for (const std::size_t kept :
                 {std::size_t{3}, whole.find('\n') + 1, whole.size() / 2, whole.size()}) {
                interrupt(sweep, file, format);
                const std::string rows = test::read(partial);
                std::ofstream(partial, std::ios::binary) << rows.substr(0, kept);
                if (!logged)
                    fs::remove(partial.string() + ".log");
                write_sweep(sweep, file,
                            {.format = format, .resume = true, .threads = 2, .progress = {}, .row = {}});
                CHECK(test::read(file) == whole);
                CHECK_FALSE(fs::exists(partial));
                CHECK_FALSE(fs::exists(partial.string() + ".log"));
            }
        CHECK(write_sweep(sweep, file,
                          {.format = format, .resume = true, .threads = 1, .progress = {}, .row = {}}) == 0);
        SweepRequest other = small_request();
        other.batches = {2};
        CHECK_THROWS_AS(
            write_sweep(Sweep(test::shipped_session(), other), file,
                        {.format = format, .resume = true, .threads = 1, .progress = {}, .row = {}}),
            InputError);
        CHECK(test::read(file) == whole);
    }
}

TEST_CASE("merged shards are what one run writes", "[sweep]") {
    const SweepFolder folder;
    SweepRequest q = small_request();
    const fs::path whole = folder.path / "whole.csv", merged = folder.path / "merged.csv";
    write_sweep(Sweep(test::shipped_session(), q), whole, {});
    q.shards = 3;
    std::vector<fs::path> parts;
    for (q.shard = 0; q.shard < 3; ++q.shard) {
        parts.push_back(folder.path / ("part" + std::to_string(q.shard) + ".csv"));
        write_sweep(Sweep(test::shipped_session(), q), parts.back(), {});
    }
    merge_sweeps({parts[2], parts[0], parts[1]}, merged);
    CHECK(test::read(merged) == test::read(whole));
    CHECK(test::read(merged.string() + ".json") == test::read(whole.string() + ".json"));
    CHECK_THROWS_AS(merge_sweeps({parts[0], parts[1]}, merged), InputError);
    CHECK_THROWS_AS(merge_sweeps({parts[0], parts[1], parts[1]}, merged), InputError);
    CHECK_THROWS_AS(merge_sweeps({parts[0], parts[1], whole}, merged), InputError);
    CHECK_THROWS_AS(merge_sweeps({parts[0], parts[1], folder.path / "none.csv"}, merged), InputError);
    CHECK(test::read(merged) == test::read(whole)); // a failed merge leaves the old file
}
