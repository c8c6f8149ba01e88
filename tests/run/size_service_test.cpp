// Sizes of services: what serve_model says of them, laws of load, limits and devices, and the question that
// people ask.

#include "answers/sizing/layouts.hpp"
#include "answers/sizing/size_service.hpp"
#include "answers/sizing/sizing_fields.hpp"
#include "answers/sizing/sizing_report.hpp"
#include "result/cost_terms.hpp"
#include "session/given.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

/// A dense model and a mixture of experts on cards, a whole node, and a computer without links.
const std::vector<std::string>& sized_hardware() {
    static const std::vector<std::string> hardware = {"H100", "L40S", "TPU-v6e", "GB10"};
    return hardware;
}

/// Conditions that name a format, so that each device is sized in that one.
Conditions in_bf16() {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::bf16);
    return conditions;
}

SizingRequest rate_of(double rate, double ttft_s, double tpot_s) {
    SizingRequest request;
    request.serving.load.rate_per_s = rate;
    request.serving.load.prompt_tokens = 1000;
    request.serving.load.output_tokens = 100;
    request.serving.load.count = 300;
    request.level = {ttft_s, tpot_s, 0};
    return request;
}

SizingAnswer sized(const char* model, const SizingRequest& request) {
    const std::vector<Conditions> formats = {in_bf16()};
    return size_service(shipped_session(), shipped_session().load(model), sized_hardware(), formats, request);
}

/// serve_model asked for the layout.
ServingResult served(const char* model, const SizedDevice& d, const SizingAnswer& answer,
                     std::int64_t more_engines = 0) {
    ServingRequest request = answer.request.serving;
    request.parallelism = d.layout->run.parallelism;
    request.parallelism->data += more_engines;
    return run_serving(shipped_session(), shipped_session().load(model), d.hardware, Conditions{}, request);
}

std::string text_of(const SizingAnswer& answer) {
    return render(answer, Format::text, PlainView{});
}

/// Fewest devices that hold; more than anything where none do.
std::vector<std::int64_t> devices_of(const SizingAnswer& answer) {
    std::vector<std::int64_t> devices;
    for (const SizedDevice& d : answer.devices)
        devices.push_back(d.layout && d.holds ? d.layout->devices() : std::int64_t{1} << 40);
    return devices;
}

} // namespace

TEST_CASE("a sized layout holds the limits when serve_model is asked, and more engines break none",
          "[serving][sizing][laws]") {
    for (const char* model : {"llama-3-8b", "qwen3-30b-a3b"}) {
        const SizingAnswer answer = sized(model, rate_of(12, 1, 0.05));
        std::size_t held = 0;
        for (const SizedDevice& d : answer.devices) {
            INFO(model << " on " << d.hardware << " " << d.reason);
            if (!d.layout || !d.holds)
                continue;
            ++held;
            CHECK(d.layout->probability >= 0.9);
            for (const std::int64_t more : {0, 1, 2}) {
                const ServingResult run = served(model, d, answer, more);
                INFO(more << " more engines");
                REQUIRE(run.ok);
                CHECK(answer.request.level.met_by(run.summary));
                if (more == 0) { // the same simulation, bit for bit
                    CHECK(run.summary.time_to_first_s.p99 == d.layout->run.summary.time_to_first_s.p99);
                    CHECK(run.summary.time_per_token_s.p99 == d.layout->run.summary.time_per_token_s.p99);
                }
            }
            const SizedMemory& m = d.layout->memory;
            CHECK(m.weights + m.cache + m.engine + m.free == Approx(m.capacity));
            CHECK(std::min({m.weights, m.cache, m.engine, m.free}) >= 0);
        }
        CHECK(held >= 2);
    }
}

TEST_CASE("a higher rate needs no fewer devices, a looser limit no more", "[serving][sizing][laws]") {
    const char* model = "llama-3-8b";
    std::vector<std::int64_t> before(sized_hardware().size(), 0);
    for (const double rate : {2.0, 8.0, 24.0}) {
        const std::vector<std::int64_t> now = devices_of(sized(model, rate_of(rate, 1, 0.06)));
        for (std::size_t i = 0; i < now.size(); ++i) {
            INFO(sized_hardware()[i] << " at " << rate);
            CHECK(now[i] >= before[i]);
        }
        before = now;
    }
    for (const double looser : {1.5, 4.0}) {
        const std::vector<std::int64_t> now = devices_of(sized(model, rate_of(24, looser, 0.06 * looser)));
        for (std::size_t i = 0; i < now.size(); ++i) {
            INFO(sized_hardware()[i] << " limits x " << looser);
            CHECK(now[i] <= before[i]);
        }
        before = now;
    }
}

TEST_CASE("a confidence asked for is kept, and less of it needs no more devices", "[serving][sizing]") {
    SizingRequest request = rate_of(8, 1, 0.05);
    std::vector<std::int64_t> before(sized_hardware().size(), 0);
    for (const double confidence : {0.5, 0.8, 0.95}) {
        request.confidence = confidence;
        const SizingAnswer answer = sized("llama-3-8b", request);
        const std::vector<std::int64_t> now = devices_of(answer);
        for (std::size_t i = 0; i < now.size(); ++i) {
            INFO(sized_hardware()[i] << " with " << confidence);
            CHECK(now[i] >= before[i]);
            if (answer.devices[i].holds)
                CHECK(answer.devices[i].layout->probability >= confidence - 1e-9);
        }
        before = now;
    }
}

TEST_CASE("nothing is dropped: who cannot serve, has no price or costs too much says so", "[sizing]") {
    SizingRequest request = rate_of(4, 1, 0.05);
    const std::vector<std::string> hardware = {"H100", "Coral-Edge-TPU", "H20", "Inferentia1"};
    const std::vector<Conditions> formats = {in_bf16()};
    const Model model = shipped_session().load("llama-3-8b");
    SizingAnswer answer = size_service(shipped_session(), model, hardware, formats, request);
    REQUIRE(answer.devices.size() == hardware.size());
    CHECK_THAT(answer.devices[1].reason, Catch::Contains("language models"));
    CHECK_THAT(answer.devices[3].reason, Catch::Contains("no room"));
    const std::string text = render(answer, Format::text, PlainView{});
    for (const std::string& name : hardware)
        CHECK_THAT(text, Catch::Contains(name));

    request.budget_usd_per_hour = 0.01; // nothing is that cheap
    answer = size_service(shipped_session(), model, std::vector<std::string>{"H100"}, formats, request);
    CHECK_FALSE(answer.cheapest);
    REQUIRE(answer.nearest);
    CHECK_THAT(answer.remedy, Catch::Contains("budget"));

    request.budget_usd_per_hour = 0;
    request.level = {1e-6, 0, 0}; // a microsecond
    answer = size_service(shipped_session(), model, std::vector<std::string>{"H100", "T4"}, formats, request);
    CHECK_FALSE(answer.fewest);
    REQUIRE(answer.nearest);
    CHECK(answer.devices[*answer.nearest].nearest.ratio > 1);
    CHECK_THAT(answer.devices[*answer.nearest].reason, Catch::Contains("TTFT"));
}

TEST_CASE("what is said to help was sized under every limit", "[sizing][laws]") {
    const std::vector<std::string> hardware = {"L40S"};
    const Model model = shipped_session().load("qwen3-32b");
    SizingRequest request;
    request.users = 300;
    request.serving.load.prompt_tokens = 4000;
    request.serving.load.output_tokens = 500;
    request.level = {0, 0, 15};
    request.budget_usd_per_hour = 40;
    std::vector<Conditions> formats(1);
    const auto asked = [&] { return size_service(shipped_session(), model, hardware, formats, request); };
    const SizingAnswer dear = asked(); // some format holds, for more: that is the nearest
    REQUIRE(dear.nearest);
    CHECK(dear.devices[*dear.nearest].holds);
    double budget = 0;
    REQUIRE(std::sscanf(dear.remedy.c_str(), "a budget of %lf USD/h", &budget) == 1);
    request.budget_usd_per_hour = budget;
    CHECK(asked().cheapest);
    // A format that holds with less: what is advised of confidence and budget holds when it is asked.
    formats = {in_bf16()};
    request.budget_usd_per_hour = 0;
    const SizingAnswer unsure = asked();
    REQUIRE(unsure.nearest);
    request.confidence = unsure.devices[*unsure.nearest].layout->probability;
    CHECK(request.confidence < 0.9);
    const SizingAnswer surer = asked();
    REQUIRE(surer.fewest);
    CHECK(surer.devices[0].layout->devices() == unsure.devices[0].layout->devices());
    // Fewer devices than it takes: how many do.
    request.confidence = 0.9;
    formats = std::vector<Conditions>(1);
    request.most_devices = 2;
    CHECK_THAT(asked().remedy, Catch::Contains("--max-devices 256 holds on "));
}

TEST_CASE("where no count of devices helps, a longer limit is tried and said", "[sizing]") {
    SizingRequest request = rate_of(1, 0.3, 0);
    const std::vector<std::string> hardware = {"Apple-M3-Ultra-GPU"};
    const std::vector<Conditions> formats(1);
    const auto asked = [&] {
        return size_service(shipped_session(), shipped_session().load("llama-3-8b"), hardware, formats,
                            request);
    };
    const SizingAnswer missed = asked();
    REQUIRE_FALSE(missed.fewest);
    double milliseconds = 0;
    REQUIRE(std::sscanf(missed.remedy.c_str(), "--ttft-p99 %lfms holds on", &milliseconds) == 1);
    request.level.time_to_first_s = milliseconds / 1000;
    CHECK(asked().fewest);
}

TEST_CASE("a layout has one probability, whatever is asked for", "[sizing][laws]") {
    SizingRequest request = rate_of(8, 1, 0.05);
    std::map<std::string, double> known;
    for (const double confidence : {0.55, 0.8, 0.84, 0.9, 0.95}) {
        request.confidence = confidence;
        for (const SizedDevice& d : sized("llama-3-8b", request).devices) {
            if (!d.layout)
                continue;
            const std::string layout = d.hardware + " " + to_string(d.layout->run.parallelism);
            INFO(layout << " at " << confidence);
            CHECK(d.holds == (d.layout->probability >= confidence - 1e-9));
            CHECK(known.try_emplace(layout, d.layout->probability).first->second == d.layout->probability);
        }
    }
}

TEST_CASE("a size names a device where none has a price, and refuses prices of nothing", "[sizing]") {
    SizingRequest request = rate_of(2, 0, 0.2);
    const std::vector<std::string> hardware = {"RTX-4090"};
    const std::vector<Conditions> formats = {in_bf16()};
    const Model model = shipped_session().load("llama-3-8b");
    request.cost.tenure = Tenure::rent;
    const auto asked = [&] { return size_service(shipped_session(), model, hardware, formats, request); };
    const std::vector<std::string> lines = sizing_takeaway(asked()).lines;
    CHECK_THAT(lines.front(), Catch::Contains("RTX-4090, "));
    CHECK_THAT(lines.at(1), Catch::Contains("--buy") && Catch::Contains("--price RTX-4090=USD/h"));
    request.cost.prices = {parse_price("RTX-4090=2000")};
    CHECK_THAT(sizing_takeaway(asked()).lines.back(), Catch::Contains("--price RTX-4090 is not used"));
    request.cost.prices = {parse_price("RTX-4O9O=2000")};
    CHECK_THROWS_WITH(asked(), Catch::Contains("RTX-4090"));
}

TEST_CASE("a size needs one load; without a limit those of a chat hold", "[sizing]") {
    const std::vector<Conditions> formats = {in_bf16()};
    const Model model = shipped_session().load("llama-3-8b");
    SizingRequest request;
    request.level = {1, 0, 0};
    CHECK_THROWS_AS(size_service(shipped_session(), model, sized_hardware(), formats, request), UsageError);
    request.serving.load.rate_per_s = 1;
    request.serving.plan.concurrency = 1;
    CHECK_THROWS_AS(size_service(shipped_session(), model, sized_hardware(), formats, request), UsageError);
    request.serving.plan.concurrency = 0;
    request.level = {};
    const SizingAnswer usual = size_service(shipped_session(), model, sized_hardware(), formats, request);
    CHECK(usual.usual_level);
    CHECK(usual.request.level.time_to_first_s == 2);
    CHECK(usual.request.level.time_per_token_s == 0.2);
}

TEST_CASE("a size that says nothing of lengths, requests or formats has those of the tool", "[sizing]") {
    const SizingRequest usual;
    CHECK(usual.serving.load.prompt_tokens == 2000);
    CHECK(usual.serving.load.output_tokens == 300);
    SizingTexts own(Spelling::key);
    ServingTexts load(Spelling::key);
    own.give("users", "200");
    CHECK(own.request(load).users == 200);
    CHECK(own.request(load).serving.load.prompt_tokens == 2000);
    CHECK(own.request(load).serving.load.count == 0);
    own.give("think_time", "0s");
    CHECK(own.request(load).think_s == 0);
    own.give("budget", "7305USD/month");
    own.give("confidence", "80%");
    CHECK(own.request(load).budget_usd_per_hour == Approx(10));
    CHECK(own.request(load).confidence == Approx(0.8));
    CHECK_THROWS_WITH(own.give("budget", "40EUR/h"), Catch::Contains("no other currency"));
    load.give("rate", "120/min");
    CHECK_THROWS_WITH(own.request(load), Catch::Contains("users excludes rate"));
    for (const SizingField& field : sizing_fields()) { // each prints what it reads
        INFO(field.key);
        const std::string text = field.key == "confidence"        ? "0.5"
                                 : field.key == "budget"          ? "20USD/h"
                                 : field.kind == FieldKind::truth ? "true"
                                 : field.kind == FieldKind::whole ? "7"
                                                                  : "0.25s";
        SizingRequest request;
        field.parse(text, field.flag, request);
        CHECK(field.print(request) == std::vector{text});
        CHECK_THROWS_WITH(field.put("what?", field.flag, request), Catch::Contains(field.flag));
    }
}

TEST_CASE("users ask again when they have read: a rate, said with its reason", "[sizing]") {
    const std::vector<Conditions> formats = {in_bf16()};
    const Model model = shipped_session().load("qwen3-8b");
    const std::vector<std::string> hardware = {"H100"};
    SizingRequest request;
    request.users = 200;
    request.serving.load.prompt_tokens = 2000;
    request.serving.load.output_tokens = 300;
    request.level = {2, 0.05, 0};
    CHECK(reading_time(300) == Approx(300.0 * 3 / 4 / 238 * 60));
    const auto sized = [&] { return size_service(shipped_session(), model, hardware, formats, request); };
    SizingAnswer answer = sized();
    CHECK(answer.request.serving.load.rate_per_s == Approx(200 / reading_time(300)));
    request.think_s = 60;
    answer = sized();
    REQUIRE(answer.fewest);
    CHECK(answer.request.serving.load.rate_per_s == Approx(200.0 / 60));
    CHECK(answer.devices[*answer.fewest].layout->devices() == 1);
    CHECK_THAT(describe(answer, {}, Format::text).title,
               Catch::Contains("200 users, each asking every 60.0 s: 3.33 requests/s"));
    request.think_s = 0; // as users were counted before: each has one in flight
    answer = sized();
    CHECK(answer.request.serving.plan.concurrency == 200);
    CHECK(answer.devices.front().layout->devices() > 1);
}

TEST_CASE("where no format is asked for, each device has that in which it takes the fewest", "[sizing]") {
    SizingRequest request;
    request.serving.load.rate_per_s = 10;
    request.serving.load.prompt_tokens = 2000;
    request.serving.load.output_tokens = 300;
    request.level = {2, 0.03, 0};
    const std::vector<std::string> hardware = {"RTX-4090", "H100"};
    const std::vector<Conditions> formats = {in_bf16()};
    const Model model = shipped_session().load("qwen3-8b");
    const SizingAnswer wide = size_service(shipped_session(), model, hardware, formats, request);
    const std::vector<Conditions> unnamed(1);
    const SizingAnswer any = size_service(shipped_session(), model, hardware, unnamed, request);
    REQUIRE(any.devices.size() == hardware.size());
    for (std::size_t i = 0; i < hardware.size(); ++i) {
        INFO(hardware[i]);
        CHECK(any.devices[i].hardware == hardware[i]);
        REQUIRE(any.devices[i].layout);
        if (wide.devices[i].holds)
            CHECK(any.devices[i].layout->devices() <= wide.devices[i].layout->devices());
    }
    CHECK(any.devices[0].precision != wide.devices[0].precision);

    // What was left out of the search would not have been better: each format asked for alone.
    std::vector<std::int64_t> fewest = devices_of(wide);
    for (std::size_t k = 1; k < any.formats.size(); ++k) {
        const std::vector<std::int64_t> alone = devices_of(
            size_service(shipped_session(), model, hardware, std::span(&any.formats[k], 1), request));
        for (std::size_t i = 0; i < fewest.size(); ++i)
            fewest[i] = std::min(fewest[i], alone[i]);
    }
    CHECK(devices_of(any) == fewest);
}

TEST_CASE("more devices than are allowed does not hide that one request alone is too slow", "[sizing]") {
    SizingRequest request = rate_of(5000, 1e-6, 0.05);
    request.most_devices = 1;
    for (const SizedDevice& d : sized("llama-3-8b", request).devices) {
        INFO(d.hardware);
        CHECK(d.nearest.ratio > 1);
        CHECK(d.reason.find("one request alone") != std::string::npos);
    }
}

TEST_CASE("prices of one kind of provider are compared, and the first line has provider and date",
          "[sizing]") {
    SizingRequest request;
    request.serving.load.rate_per_s = 5;
    request.level = {2, 0.05, 0};
    const std::vector<std::string> hardware = {"H100", "MI325X", "L40S", "A100"};
    const std::vector<Conditions> formats = {in_bf16()};
    const SizingAnswer answer =
        size_service(shipped_session(), shipped_session().load("qwen3-8b"), hardware, formats, request);
    REQUIRE(answer.cheapest);
    CHECK(answer.devices[*answer.cheapest].market == "hyperscaler");
    const std::string first = sizing_takeaway(answer).lines.front();
    CHECK_THAT(first, Catch::Matches(".*USD/h rented \\(.*, 20[0-9-]+\\).*"));
    if (answer.elsewhere)
        CHECK(answer.devices[*answer.elsewhere].market == "specialised cloud");
}

TEST_CASE("engines share a model as they can: powers of two that divide its heads, within a node",
          "[sizing]") {
    const auto device = shipped_session().hardware().device("H100").device;
    std::vector<std::int64_t> tensor;
    for (const Parallelism& way : engine_ways(*device, {}, 40, false)) // 40 heads
        if (way.pipeline == 1)
            tensor.push_back(way.tensor);
    CHECK(tensor == std::vector<std::int64_t>{1, 2, 4, 8});
    for (const Parallelism& way : engine_ways(*device, {}, 12, false)) // 12 heads: 8 does not divide them
        CHECK(way.tensor <= 4);
    const auto alone = shipped_session().hardware().device("GB10").device;
    if (!alone->link_bandwidth.known())
        CHECK(engine_ways(*alone, {}, 32, true).size() == 1);
    for (const Parallelism& way : engine_ways(*device, {.by_layers = true}, 40, true)) // stages alone
        CHECK(way.engine_devices() == way.pipeline);
}

TEST_CASE("32 users, 8k context, a first token within a second: H100, GB10 or a MacBook, in five lines",
          "[sizing]") {
    SizingRequest request;
    request.serving.plan.concurrency = 32;
    request.serving.load.prompt_tokens = 8000;
    request.serving.load.output_tokens = 300;
    request.level = {1, 0, 0};
    const std::vector<std::string> hardware = {"H100", "GB10", "Apple-M4-Max-GPU"};
    const std::vector<Conditions> formats = {in_bf16()};
    const SizingAnswer answer =
        size_service(shipped_session(), shipped_session().load("qwen3-30b-a3b"), hardware, formats, request);
    REQUIRE(answer.fewest);
    CHECK(answer.devices[*answer.fewest].hardware == "H100");
    // What misses the limit with one request alone does not hold with 32.
    for (const std::size_t i : {1U, 2U}) {
        CHECK_FALSE(answer.devices[i].holds);
        CHECK(answer.devices[i].nearest.ratio > 1);
    }
    const Report report = describe(answer, PlainView{}, Format::text);
    const auto* lines = std::get_if<Takeaway>(&report.blocks.at(1));
    REQUIRE(lines);
    CHECK(lines->lines.size() <= 5);
    const std::string all = render(answer, Format::text, PlainView{}); // who loses stands below the table
    for (const std::string& name : hardware)
        CHECK_THAT(all, Catch::Contains(name));
    CHECK_THAT(lines->lines.front(), Catch::Contains("H100"));
}

TEST_CASE("a recording is sized at its own rate, and serve_model holds the limits with it",
          "[serving][sizing]") {
    Trace trace;
    for (int i = 0; i < 400; ++i) // bursts of four, a second apart, of two lengths
        trace.requests.push_back({static_cast<double>(i / 4), i % 2 == 0 ? 500 : 1500, 100});
    SizingRequest request;
    request.serving.load.trace = std::make_shared<const Trace>(trace);
    request.serving.load.count = 0;
    request.level = {1, 0.05, 0};
    const SizingAnswer answer = sized("llama-3-8b", request);
    CHECK(answer.request.serving.load.rate_per_s == Approx(399.0 / 99));
    CHECK(answer.request.serving.load.prompt_tokens == Approx(1000));
    CHECK(answer.request.serving.load.count == 400);
    std::size_t held = 0;
    for (const SizedDevice& d : answer.devices) {
        INFO(d.hardware << " " << d.reason);
        if (!d.layout || !d.holds)
            continue;
        ++held;
        CHECK(answer.request.level.met_by(served("llama-3-8b", d, answer).summary));
    }
    CHECK(held > 0);
}

TEST_CASE("lengths from a list decide how many generate, not the usual ones", "[serving][sizing]") {
    SizingRequest request = rate_of(4, 2, 0.1);
    const SizingAnswer same = sized("llama-3-8b", request);
    request.serving.load.lengths = {{1000, 100}};
    request.serving.load.output_tokens = 4000; // nobody draws it
    CHECK(devices_of(sized("llama-3-8b", request)) == devices_of(same));
}

TEST_CASE("pairs of two kinds hold the limits, cheapest first, and serve no third kind",
          "[serving][sizing]") {
    SizingRequest request = rate_of(12, 1, 0.05);
    request.pairs = true;
    const SizingAnswer answer = sized("llama-3-8b", request);
    REQUIRE_FALSE(answer.pairs.empty());
    double last = 0;
    for (const SizedPair& pair : answer.pairs) {
        INFO(pair.prompt_hardware << " and " << pair.answer_hardware);
        CHECK(pair.prompt_hardware != pair.answer_hardware);
        CHECK(request.level.met_by(pair.summary));
        CHECK(pair.probability >= request.confidence - 1e-9);
        CHECK(pair.devices() >= 2);
        CHECK(pair.usd_per_hour.value_or(HUGE_VAL) >= last);
        last = pair.usd_per_hour.value_or(HUGE_VAL);
        const auto networked = [](const std::string& hardware) {
            return shipped_session().hardware().device(hardware).device->network_bandwidth.known();
        };
        CHECK(pair.transfer_bytes_per_s.has_value() ==
              (networked(pair.prompt_hardware) || networked(pair.answer_hardware)));
    }
    CHECK(answer.unpaired.empty());
    CHECK(sized("llama-3-8b", rate_of(12, 1, 0.05)).pairs.empty()); // not asked for
}

TEST_CASE("a measurement of one's own moves the steps that a size rests on", "[serving][sizing]") {
    SessionOptions shipped;
    shipped.data = ARCHSIM_SOURCE_DIR;
    Session session(shipped);
    SizingRequest request = rate_of(2, 0, 0.2);
    const std::vector<Conditions> formats = {in_bf16()};
    const std::vector<std::string> hardware = {"L40S"};
    const auto step = [&] {
        const SizingAnswer answer =
            size_service(session, session.load("tinyllama-1.1b"), hardware, formats, request);
        return answer.devices.front().layout ? answer.devices.front().layout->run.summary.time_per_token_s.p50
                                             : 0.0;
    };
    const double before = step();
    REQUIRE(before > 0);
    const std::vector<std::string> rows = {"tinyllama-1.1b fp16 on L40S under vllm = 400ms"};
    session.given(read_given(rows, session, "", "--measured"));
    CHECK(step() > before);
    // A device that holds nothing was measured all the same.
    request.level.time_per_token_s = 1e-6;
    const SizingAnswer none =
        size_service(session, session.load("tinyllama-1.1b"), hardware, formats, request);
    REQUIRE_FALSE(none.devices.front().layout);
    CHECK(none.devices.front().given.rows == 1);
    CHECK_THAT(text_of(none), Catch::Contains("follows your 1 measurement"));
}

TEST_CASE("every reason is told once", "[sizing]") {
    SizingRequest request = rate_of(2, 0, 1e-6);
    std::string text = text_of(sized("tinyllama-1.1b", request));
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; }); // lines break anywhere
    std::size_t times = 0;
    for (std::size_t at = text.find("onerequestalone"); at != std::string::npos;
         at = text.find("onerequestalone", at + 1))
        ++times;
    CHECK(times == sized_hardware().size());
}

TEST_CASE("a run that is given up would not have held", "[serving][sizing]") {
    const Session& session = shipped_session();
    const Model model = session.load("qwen3-8b");
    for (const double users : {0.0, 64.0})
        for (const ServiceLevel level : {ServiceLevel{0.2, 0, 0}, ServiceLevel{0, 0.02, 0},
                                         ServiceLevel{0, 0, 4}, ServiceLevel{1, 0.05, 0}}) {
            SizingRequest request = rate_of(users > 0 ? 0 : 40, 0, 0);
            request.serving.plan.concurrency = static_cast<std::int64_t>(users);
            request.serving.find_capacity = false;
            request.serving.parallelism = Parallelism{};
            request.level = level;
            Replicas yes_or_no(session, model, "H100", Conditions{}, request),
                whole(session, model, "H100", Conditions{}, request);
            REQUIRE(whole.ready());
            for (const std::int64_t engines : {1, 2, 4, 6})
                for (const double deviation : {0.0, 1.5}) {
                    const bool holds = yes_or_no.holds(engines, deviation);
                    const SizingPressure all = whole.pressure(engines, deviation);
                    CHECK(holds == (all.ratio <= 1));
                    // Whoever asks for more afterwards is told all.
                    CHECK(yes_or_no.pressure(engines, deviation).ratio == all.ratio);
                    CHECK(yes_or_no.holds(engines, deviation) == holds);
                }
        }
}
