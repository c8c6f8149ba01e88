// What runs on a machine: laws of memory, context, formats and hosts, and the commands.

#include "answers/local/local_models.hpp"
#include "archsim/core/finding.hpp"
#include "report/render/answer_document.hpp"
#include "result/format_parts.hpp"
#include "session/given.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

using Rows = std::map<std::pair<std::string, std::string>, LocalModel>;

Rows rows_on(const std::string& device, std::int64_t context = 2048, const std::string& host = {},
             double host_bytes = 0) {
    LocalRequest request;
    request.device = device;
    request.context = context;
    request.host = host;
    request.host_memory_bytes = host_bytes;
    Rows rows;
    for (const LocalModel& m : local_models(shipped_session(), request).models)
        rows[{m.name, m.format}] = m;
    return rows;
}

} // namespace

TEST_CASE("what runs fits, reads and writes; what does not says why", "[local]") {
    std::size_t run = 0, no = 0;
    for (const auto& [key, m] : rows_on("RTX-4070-Laptop")) {
        INFO(key.first << " in " << key.second << ": " << m.reason);
        if (m.runs) {
            ++run;
            CHECK(m.memory_bytes <= m.capacity_bytes); // no host was named
            CHECK(m.output.low < m.output.per_s);
            CHECK(m.output.per_s < m.output.high);
            CHECK(m.prompt.per_s > m.output.per_s); // a prompt shares the reading of the weights
            CHECK(m.device_layers == m.layers);
            CHECK(
                (m.command.empty() ? key.second == "fp8" : m.command.find("-ngl 999") != std::string::npos));
        } else {
            ++no;
            CHECK_FALSE(m.reason.empty());
            CHECK(m.command.empty());
            // Memory is that of the row's format, however far from fitting it is, but for the embeddings of
            // every layer, which stay with the host (two fifths of Gemma 4 E4B).
            if (m.memory_bytes > 0 && m.parameters > 0)
                CHECK(m.memory_bytes > 0.6 * m.parameters * bytes_of(precision_named(m.format).weights));
        }
    }
    CHECK(run > 20);
    CHECK(no > 20);
}

TEST_CASE("narrower weights and shorter contexts fit wherever wider and longer ones do", "[local][laws]") {
    const Rows rows = rows_on("RTX-3060", 4096), shorter = rows_on("RTX-3060", 1024);
    for (const auto& [key, m] : rows) {
        INFO(key.first << " in " << key.second);
        if (!m.runs)
            continue;
        if (key.second == "bf16" || key.second == "int8") // a stored format is no wider than it is
            CHECK(rows.at({key.first, "int4"}).runs);
        CHECK(shorter.at(key).runs);
    }
}

TEST_CASE("a host beside the device takes layers that do not fit, and is never quicker than the device",
          "[local][laws]") {
    constexpr double kHost = 64e9;
    const Rows alone = rows_on("RTX-3060"), beside = rows_on("RTX-3060", 2048, "Core-i7-12700H", kHost);
    std::size_t split = 0, experts = 0;
    for (const auto& [key, m] : beside) {
        INFO(key.first << " in " << key.second << ": " << m.reason);
        const auto whole = alone.find(key);
        if (whole != alone.end() && whole->second.runs) {
            CHECK(m.output.per_s == whole->second.output.per_s);
            continue;
        }
        if (!m.runs)
            continue;
        ++split;
        experts += m.expert_layers > 0;
        CHECK((m.device_layers < m.layers) == (m.expert_layers == 0));
        CHECK(m.host_bytes > 0);
        CHECK(m.host_bytes <= kHost);
        CHECK(m.memory_bytes - m.host_bytes <= m.capacity_bytes * (1 + 1e-9));
        if (!m.command.empty()) // llama.cpp has no files in fp8
            CHECK_THAT(m.command,
                       Catch::Contains(m.expert_layers > 0 ? "--n-cpu-moe " + std::to_string(m.expert_layers)
                                                           : "-ngl " + std::to_string(m.device_layers)));
    }
    CHECK(split > 5);
    CHECK(experts > 0);
}

TEST_CASE("a model whose context is shorter says so", "[local]") {
    const Rows rows = rows_on("RTX-4090", 4096);
    const LocalModel& gpt2 = rows.at({"gpt2", "int4"});
    CHECK_FALSE(gpt2.runs);
    CHECK_THAT(gpt2.reason, Catch::Contains("1024"));
}

TEST_CASE("what does not fit says the longest context that does, and the cache with which the whole does",
          "[local]") {
    LocalRequest request;
    take_machine(shipped_session(), "RTX 3060 12GB, 32GB", request);
    request.models = {"qwen2.5-coder:14b"};
    const auto row = [&](std::int64_t context) {
        request.context = context;
        return local_models(shipped_session(), request);
    };
    const LocalAnswer whole = row(32768);
    CHECK(whole.unused_bytes == 32 * 0x1p30); // no host was named
    const std::string why = whole.models.front().reason;
    CAPTURE(why);
    REQUIRE_FALSE(whole.models.front().runs);
    const auto at = why.find("a context of ");
    REQUIRE(at != std::string::npos);
    const std::int64_t longest = std::stoll(why.substr(at + 13));
    CHECK(row(longest).models.front().runs);
    CHECK_FALSE(row(longest + 1024).models.front().runs);
    const auto text = [](const LocalAnswer& a) {
        return render(describe(a, {}, Format::text), Format::text, {});
    };
    CHECK_THAT(text(whole), Catch::Contains("qwen2.5-14b: needs ") && !Catch::Contains("Models under"));
    CHECK_THAT(text(row(longest)), Catch::Contains("qwen2.5-14b in Q4_K_M, ")); // not the class, int4
    REQUIRE_THAT(why, Catch::Contains("the whole with --kv-cache q"));
    request.kv_cache = why.find("q8_0") != std::string::npos ? Precision::int8 : Precision::int4;
    const LocalModel narrow = row(32768).models.front();
    CHECK(narrow.runs);
    CHECK_THAT(narrow.command, Catch::Contains(" -ctk q"));
}

TEST_CASE("where the weights do not fit, a file that does is named, and it runs", "[local]") {
    LocalRequest request;
    take_machine(shipped_session(), "RTX 4080", request);
    request.context = 4096;
    request.models = {"qwen3:32b"};
    const std::string why = local_models(shipped_session(), request).models.front().reason;
    CAPTURE(why);
    const auto at = why.find("a file in ");
    REQUIRE(at != std::string::npos);
    request.formats = {why.substr(at + 10, why.find(" fits", at) - at - 10)};
    const LocalModel narrower = local_models(shipped_session(), request).models.front();
    CHECK(narrower.runs);
    CHECK_THAT(narrower.command, Catch::Contains(request.formats.front() + ".gguf"));
    request.models = {"qwen3-8b-Q6_K.gguf"}; // whose format is its own
    CHECK_THAT(local_models(shipped_session(), request).models.front().reason, Catch::Contains("Q6_K"));
}

TEST_CASE("a context that nobody asked for shrinks to that of a model that is named", "[local]") {
    LocalRequest request;
    request.device = "RTX-3060";
    request.models = {"tinyllama"};
    const LocalModel shorter = local_models(shipped_session(), request).models.front();
    CHECK(shorter.runs);
    CHECK(shorter.context == 2048);
    CHECK_THAT(shorter.command, Catch::Contains(" -c 2048"));
    request.context = 4096;
    CHECK_FALSE(local_models(shipped_session(), request).models.front().runs);
}

TEST_CASE("cards divide the layers: they hold more and are no faster", "[local]") {
    LocalRequest request;
    request.device = "RTX-3090";
    request.models = {"llama-3.1-8b", "qwen3:32b", "llama3.3:70b"};
    request.formats = {"int4"};
    const LocalAnswer one = local_models(shipped_session(), request);
    take_machine(shipped_session(), "2x RTX 3090", request);
    CHECK(request.devices == 2);
    request.device = one.device;
    const LocalAnswer two = local_models(shipped_session(), request);
    REQUIRE(one.models.size() == two.models.size());
    std::size_t more = 0;
    for (std::size_t i = 0; i < one.models.size(); ++i) {
        const LocalModel &a = one.models[i], &b = two.models[i];
        INFO(a.name << ": " << b.reason);
        CHECK(b.runs >= a.runs);
        more += b.runs && !a.runs;
        if (a.runs)
            CHECK(a.output.per_s == b.output.per_s);
        CHECK(b.memory_bytes >= a.memory_bytes);
    }
    CHECK(more > 0);
    request.device = "Apple-M4";
    CHECK_THROWS_AS(local_models(shipped_session(), request), UsageError);
}

TEST_CASE("an answer that does not fit says of the processor what a machine of both does", "[local]") {
    const Session& session = shipped_session();
    for (const std::string model : {"qwen3-30b-a3b", "qwen2.5-32b"}) {
        Conditions conditions;
        conditions.stack = "llama.cpp";
        conditions.precision = file_format("Q4_K_M");
        const Workload question{.model = session.load(model),
                                .prompt = Prompt{.tokens = 1920, .generate = 128}};
        const Result card = session.estimate(question, "Ryzen-5-7600 + RTX-3060", conditions);
        INFO(model << ": " << card.estimate.reason);
        REQUIRE(card.estimate.status == Status::does_not_fit);
        const auto& choices = card.generation->offload;
        REQUIRE(choices.size() == (model == "qwen2.5-32b" ? 1 : 2)); // layers, and experts of some
        CHECK(choices.front().processor == "Ryzen-5-7600");
        LocalRequest both{.device = "RTX-3060", .host = "Ryzen-5-7600", .context = 2048};
        both.models = {model};
        both.formats = {"Q4_K_M"};
        const LocalModel row = local_models(session, both).models.front();
        REQUIRE(row.runs);
        double fastest = 0;
        for (const OffloadChoice& choice : choices)
            fastest = std::max(fastest, 1 / std::sqrt(choice.per_token_low_s * choice.per_token_high_s));
        CHECK(row.output.per_s == Approx(fastest).epsilon(0.15)); // whole layers, at a longer context
    }
}

TEST_CASE("a host is a processor beside a device that is none", "[local]") {
    LocalRequest request;
    request.device = "RTX-3090";
    request.host = "RTX-3060";
    CHECK_THROWS_AS(local_models(shipped_session(), request), UsageError);
    request.device = "Cortex-A76-RPi5";
    request.host = "Core-i7-8700K";
    CHECK_THROWS_AS(local_models(shipped_session(), request), UsageError);
    CHECK_THROWS_AS(take_machine(shipped_session(), "RTX 3090 + RTX 3060", request), InputError);
    request = {};
    take_machine(shipped_session(), "Core i7-8700K + RTX 3060", request);
    CHECK(request.host == "Core-i7-8700K");
}

TEST_CASE("a size of memory that nobody named is said, and one that was is not", "[local]") {
    const auto first_line = [](const char* machine) {
        LocalRequest request;
        take_machine(shipped_session(), machine, request);
        request.models = {"qwen3:8b"};
        return render(describe(local_models(shipped_session(), request), {}, Format::text), Format::text,
                      {400});
    };
    for (const char* named : {"MacBook Pro M4 Max 128GB", "M3 24GB", "RTX 3090", "DGX Spark 128GB"})
        CHECK_THAT(first_line(named), !Catch::Contains("is assumed"));
    CHECK_THAT(first_line("DGX Spark"), Catch::Contains(": 128 GB is assumed"));
    CHECK_THAT(first_line("i7-8700K"), Catch::Contains("is assumed") && Catch::Contains("-ngl 0"));
}

TEST_CASE("data begin with what runs, in the order of the table, doubtful or not", "[local]") {
    LocalRequest request;
    request.device = "RTX-3060";
    const LocalAnswer answer = local_models(shipped_session(), request);
    const auto data = nlohmann::json::parse(to_json(answer, LocalView{})).at("models");
    CHECK(data.size() == answer.models.size());
    CHECK(std::is_sorted(data.begin(), data.end(), [](const auto& a, const auto& b) {
        return a.at("fast_enough").template get<bool>() > b.at("fast_enough").template get<bool>();
    }));
    const LocalModel* largest = nullptr;
    for (const LocalModel& m : answer.models)
        if (m.runs && !m.too_slow && (largest == nullptr || m.parameters > largest->parameters))
            largest = &m;
    REQUIRE(largest != nullptr);
    CHECK_THAT(render(describe(answer, {}, Format::text), Format::text, {}),
               Catch::Contains("argest: " + largest->name + " in") ||
                   Catch::Contains("Newest and largest ("));
}

TEST_CASE("vision models run on a small board", "[local]") {
    LocalRequest request;
    request.device = "Jetson-Orin-Nano";
    request.kind = LocalKind::vision;
    request.least_tokens_per_s = 1e9;
    const LocalAnswer answer = local_models(shipped_session(), request);
    CHECK(answer.models.size() == answer.considered);
    for (const LocalModel& m : answer.models)
        CHECK(m.runs == m.too_slow); // none is that fast
}

TEST_CASE("speech models run whole, not as encoders and decoders apart", "[local]") {
    LocalRequest request;
    request.device = "RTX-4070-Laptop";
    request.kind = LocalKind::speech;
    const LocalAnswer answer = local_models(shipped_session(), request);
    CHECK(answer.models.size() == answer.considered);
    std::size_t whisper = 0;
    for (const LocalModel& m : answer.models) {
        INFO(m.name << ": " << m.reason);
        CHECK(m.runs);
        CHECK(m.output.per_s > 0);
        CHECK_FALSE(m.name.ends_with("-encoder"));
        whisper += m.name.starts_with("whisper-");
    }
    CHECK(whisper >= 5);
}

TEST_CASE("a measurement of one's own moves what runs on its device", "[local]") {
    SessionOptions shipped;
    shipped.data = ARCHSIM_SOURCE_DIR;
    Session session(shipped);
    LocalRequest request;
    request.device = "RTX-3060";
    request.context = 1024;
    request.formats = {"int4"};
    const auto rate_of = [&](const LocalAnswer& answer) {
        for (const LocalModel& m : answer.models)
            if (m.name == "tinyllama-1.1b")
                return m.output;
        return LocalRate{};
    };
    const LocalRate before = rate_of(local_models(session, request));
    REQUIRE(before.per_s > 0);
    // Far slower than estimated, on the same device and stack.
    const std::vector<std::string> rows = {"tinyllama-1.1b fp16 on RTX-3060 under llama.cpp = 400ms"};
    session.given(read_given(rows, session, "", "--measured"));
    const LocalRate after = rate_of(local_models(session, request));
    CHECK(after.per_s < before.per_s);
    CHECK(after.high / after.low <= before.high / before.low * 1.001);
}

TEST_CASE("names of machines may end in the memory of their computer", "[local]") {
    CHECK(stated_memory("RTX 4070 laptop, 32GB") == 32 * 0x1p30);
    CHECK(stated_memory("RTX 4070 laptop,32 GiB") == 32 * 0x1p30);
    for (const char* without : {"RTX-4090", "A, B", "RTX 3060 12GB", "A, -3GB", ","})
        CHECK(stated_memory(without) == 0);
    LocalRequest request;
    request.device = "RTX-4090";
    request.context = 100;
    CHECK_THROWS_AS(local_models(shipped_session(), request), UsageError);
}

TEST_CASE("commands of llama.cpp name the file's type and the layers on the GPU", "[local]") {
    CHECK(llama_command(llama_file("qwen3-8b", "int4"), 8192, 36, 36) ==
          "llama-server -m qwen3-8b-Q4_K_M.gguf -c 8192 -ngl 999");
    CHECK(llama_command(llama_file("qwen3-8b", "int8"), 4096, 20, 36, 0, Precision::int8) ==
          "llama-server -m qwen3-8b-Q8_0.gguf -c 4096 -ngl 20 -ctk q8_0 -ctv q8_0");
    CHECK(llama_command(llama_file("qwen3-8b", "bf16"), 4096, -1, 36) ==
          "llama-server -m qwen3-8b-BF16.gguf -c 4096 -ngl 0");
    CHECK(llama_file("qwen3-8b", "Q3_K_M") == "qwen3-8b-Q3_K_M.gguf");
    CHECK(llama_command(llama_file("qwen3-8b", "fp8"), 4096, 36, 36).empty()); // it has no such files
}

TEST_CASE("the newest stand first, of one year the largest, and every language model has a year", "[local]") {
    LocalRequest request;
    request.device = "RTX-4070-Laptop";
    request.formats = {"int4"};
    const LocalAnswer answer = local_models(shipped_session(), request);
    for (const LocalModel& m : answer.models) {
        INFO(m.name);
        CHECK(m.year >= 2017);
    }
    const Report report = describe(answer, {}, Format::text);
    const auto table = std::find_if(report.blocks.begin(), report.blocks.end(),
                                    [](const Block& b) { return std::holds_alternative<Table>(b); });
    REQUIRE(table != report.blocks.end());
    std::pair<double, double> before = {3000, 0}; // year, parameters
    for (const std::vector<Cell>& row : std::get<Table>(*table).rows) {
        INFO(row[0].text);
        const std::pair<double, double> own = {row[5].value.value_or(0), row[4].value.value_or(0)};
        CHECK((own.first < before.first || own.second <= before.second));
        CHECK(own.first <= before.first);
        before = own;
    }
}

TEST_CASE("listed models and those that are left out are all that were considered", "[local]") {
    for (const auto& [device, least] : std::vector<std::pair<const char*, double>>{
             {"RTX-4070-Laptop", 0}, {"RTX-4070-Laptop", 60}, {"H100", 0}, {"Apple-M2", 20}}) {
        INFO(device << " at " << least);
        LocalRequest request;
        request.device = device;
        request.context = 8000;
        request.least_tokens_per_s = least;
        const LocalAnswer answer = local_models(shipped_session(), request);
        std::size_t listed = 0, left_out = 0;
        for (const Block& block : describe(answer, {}, Format::text).blocks)
            if (const auto* table = std::get_if<Table>(&block))
                listed = table->rows.size();
            else if (const auto* bullets = std::get_if<Bullets>(&block))
                for (const std::string& item : bullets->items) // "12 models do not fit ...", or names
                    left_out +=
                        item.find(" model") < 6
                            ? std::stoul(item)
                            : 1 + static_cast<std::size_t>(std::count(
                                      item.begin(),
                                      item.begin() + static_cast<std::ptrdiff_t>(item.find(':')), ','));
        CHECK(listed + left_out == answer.considered);
    }
}
