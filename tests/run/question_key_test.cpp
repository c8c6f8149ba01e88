// One key for a question: any one thing that a session was given changes it, and nothing else does.

#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_file.hpp"
#include "fields/question.hpp"
#include "measurements/given_output.hpp"
#include "session/given.hpp"
#include "support/random_source.hpp"
#include "support/read_file.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

using namespace archsim;
namespace fs = std::filesystem;

namespace {

/// Files of its own that a session is given: a model, a device, measurements.
class Given {
  public:
    Given() : folder_(fs::temp_directory_path() / ("archsim-key-" + std::to_string(getpid()))) {
        fs::create_directories(folder_ / "overlay/gpu");
        fs::copy_file(fs::path(ARCHSIM_SOURCE_DIR) / "models/onnx/mobilenet_v2.onnx", model());
        device(test::read(fs::path(ARCHSIM_SOURCE_DIR) / "hardware_db/gpu/A100.json"));
    }
    ~Given() { fs::remove_all(folder_); }
    Given(const Given&) = delete;
    Given& operator=(const Given&) = delete;

    fs::path model() const { return folder_ / "net.onnx"; }
    fs::path file() const { return folder_ / "rows.csv"; }
    void device(const std::string& text) const { std::ofstream(folder_ / "overlay/gpu/A100.json") << text; }
    std::string device() const { return test::read(folder_ / "overlay/gpu/A100.json"); }
    /// A session that was given all of it, `words` as measurements.
    Session session(const std::vector<std::string>& words) const {
        Session opened({.data = ARCHSIM_SOURCE_DIR, .hardware_overlays = {folder_ / "overlay"}});
        opened.given(read_given(words, opened, "A100", "--measured"));
        return opened;
    }
    SweepRequest request() const {
        SweepRequest q;
        q.models = {model().string()};
        q.hardware = {"A100"};
        q.axes = {parse_sweep_axis("bandwidth=0.5x..2x:600")};
        q.overlays = {folder_ / "overlay"};
        return q;
    }
    std::string key(const std::vector<std::string>& words) const {
        const Session now = session(words);
        return Sweep(now, request()).content();
    }

  private:
    fs::path folder_;
};

} // namespace

TEST_CASE("any one thing that a session was given changes the key of its questions", "[laws][sweep]") {
    const Given given;
    std::map<std::string, std::string> keys; // and what each is of
    const auto add = [&](const std::string& what, const std::string& key) {
        INFO(what << " and " << keys[key]);
        CHECK(keys[key].empty());
        keys[key] = what;
    };
    add("nothing", given.key({}));
    // Measurements: every word of them decides.
    for (const char* words :
         {"resnet18 fp32 on A100 = 1ms", "resnet18 fp32 on A100 = 1.001ms", "resnet18 fp16 on A100 = 1ms",
          "resnet18 b2 on A100 = 1ms", "resnet34 fp32 on A100 = 1ms", "resnet18 fp32 on H100 = 1ms",
          "resnet18 fp32 on A100 = 1000/s"})
        add(words, given.key({words}));
    add("two", given.key({"resnet18 fp32 on A100 = 1ms", "resnet34 fp32 on A100 = 1ms"}));
    const std::string device = given.device();
    std::string other = device;
    other.insert(other.find(':', other.find("\"name\"")) + 3, "Another ");
    given.device(other);
    add("a device that was changed", given.key({}));
    given.device(device);
    fs::copy_file(fs::path(ARCHSIM_SOURCE_DIR) / "models/onnx/resnet18.onnx", given.model(),
                  fs::copy_options::overwrite_existing);
    add("a model that was changed", given.key({}));
}

TEST_CASE("a question that is asked twice has one key", "[laws][sweep]") {
    const Given given;
    std::vector<std::string> words = {"resnet18 fp32 on A100 = 1ms", "resnet34 fp32 on A100 = 2ms",
                                      "vgg16 fp16 on A100 = 3ms", "resnet18 fp32 on A100 = 1ms"};
    const std::string key = given.key(words);
    test::RandomSource random(3);
    for (int i = 0; i < 5; ++i) { // in whatever order
        std::swap(words[random.below(words.size())], words[random.below(words.size())]);
        CHECK(given.key(words) == key);
    }
    CHECK(given.key({}) == given.key({}));
}

TEST_CASE("rows with and without a measurement are never continued, merged or compared", "[sweep]") {
    const Given given;
    const Session plain = given.session({}), told = given.session({"resnet18 fp32 on A100 = 1ms"});
    const Sweep before(plain, given.request()), after(told, given.request());
    write_sweep(before, given.file(), {});
    CHECK_THROWS_WITH(write_sweep(after, given.file(), {.resume = true, .progress = {}, .row = {}}),
                      Catch::Contains("another sweep"));
    CHECK(write_sweep(before, given.file(), {.resume = true, .progress = {}, .row = {}}) == 0);
    const Workload workload{.model = plain.load(given.model().string())};
    const Result without = plain.estimate(workload, "A100"), with = told.estimate(workload, "A100");
    CHECK(measured_key(without).empty()); // the device that was given is the library's own
    std::string other = given.device();
    other.insert(other.find(':', other.find("\"name\"")) + 3, "Another ");
    given.device(other);
    const Session changed = given.session({});
    const std::string of_file = measured_key(changed, "A100");
    CHECK_FALSE(of_file.empty());
    CHECK(measured_key(changed.estimate(workload, "A100")) == of_file);
    CHECK(measured_key(given.session({"resnet18 fp32 on A100 = 1ms"}), "A100") != of_file);
    CHECK_FALSE(measured_key(with).empty());
    CHECK(measured_key(with) == measured_key(told, "A100"));
    const Question question{workload, without.conditions};
    CHECK(with_measured(question_key(question), measured_key(with)) !=
          with_measured(question_key(question), measured_key(without)));
}

TEST_CASE("a time that nothing takes is no measurement", "[sweep][hostile]") {
    const Given given;
    for (const char* value : {"1e308s", "1e306ms", "1e-300s", "1e300/s", "1e-300/s"}) {
        INFO(value);
        const Session session = given.session({std::string("resnet18 fp32 on A100 = ") + value});
        const Result result = session.estimate({.model = session.load("resnet18")}, "A100");
        CHECK_FALSE(result.ok());
        CHECK_THAT(result.estimate.reason, Catch::Contains("that a measurement can be"));
    }
}
