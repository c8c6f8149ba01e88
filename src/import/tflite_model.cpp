#include "import/tflite.hpp"

namespace archsim::import {

constexpr std::size_t kLongestTfliteName = 4096, kMostTfliteAxes = 16;

/// TensorType; what nothing is computed with stays undefined.
static DataType tflite_type(std::int8_t code) {
    constexpr std::array kTypes = {
        DataType::float32, DataType::float16,    DataType::int32,  DataType::uint8,     DataType::int64,
        DataType::string,  DataType::boolean,    DataType::int16,  DataType::complex64, DataType::int8,
        DataType::float64, DataType::complex128, DataType::uint64, DataType::undefined, DataType::undefined,
        DataType::uint32,  DataType::uint16,     DataType::int4,   DataType::bfloat16};
    const auto index = static_cast<std::size_t>(static_cast<std::uint8_t>(code));
    return index < kTypes.size() ? kTypes[index] : DataType::undefined;
}

struct TfliteBytes {
    std::uint64_t first = 0, count = 0;
};

/// Buffer: data, or (schema 3c) an offset from the begin of the file and a size.
static std::vector<TfliteBytes> read_buffers(const FlatTable& model) {
    std::vector<TfliteBytes> buffers;
    for (const FlatTable& table : model.tables(4)) {
        const FlatVector data = table.vector(0, 1);
        TfliteBytes bytes{data.first, data.count};
        if (const auto outside = table.number<std::uint64_t>(1, 0); outside > 1) {
            bytes = {outside, table.number<std::uint64_t>(2, 0)};
            const std::uint64_t size = table.buffer().size();
            if (bytes.count > size || bytes.first > size - bytes.count)
                throw FlatError("weights lie outside of it");
        }
        buffers.push_back(bytes);
    }
    return buffers;
}

static TfliteTensor read_tflite_tensor(const FlatTable& table, const std::vector<TfliteBytes>& buffers) {
    TfliteTensor t;
    t.shape = table.integers<std::int32_t>(0);
    t.type = tflite_type(table.number<std::int8_t>(1, 0));
    t.name = table.text(3, kLongestTfliteName);
    t.variable = table.number<std::uint8_t>(5, 0) != 0;
    t.signature = table.integers<std::int32_t>(7);
    if (t.shape.size() > kMostTfliteAxes)
        throw FlatError("a tensor has more axes than any has");
    if (t.signature.size() != t.shape.size())
        t.signature.clear();
    if (std::ranges::any_of(t.shape, [](std::int64_t n) { return n < 0; }))
        throw FlatError("a tensor has a negative size");
    const auto buffer = table.number<std::uint32_t>(2, 0);
    if (buffer >= buffers.size() && !(buffer == 0 && buffers.empty()))
        throw FlatError("a tensor names bytes that are not there");
    if (buffer > 0) {
        t.data = buffers[buffer].first;
        t.data_bytes = buffers[buffer].count;
    }
    if (const auto quantization = table.table(4))
        t.scales = quantization->vector(2, 4).count;
    return t;
}

struct TfliteCode {
    std::int32_t code = 0;
    std::string custom;
};

/// Codes above 127 stand in a field of their own; older files know the narrow one alone.
static std::vector<TfliteCode> read_codes(const FlatTable& model) {
    std::vector<TfliteCode> codes;
    for (const FlatTable& table : model.tables(1))
        codes.push_back(
            {std::max<std::int32_t>(table.number<std::int8_t>(0, 0), table.number<std::int32_t>(3, 0)),
             table.text(1, kLongestTfliteName)});
    return codes;
}

/// Vectors and names may stand in a file once and be named often. Few times, in honest files: what is read
/// stays within a multiple of the bytes that there are.
class TfliteBudget {
  public:
    explicit TfliteBudget(std::uint64_t bytes) : left_(kTimes * bytes + kFree) {}
    void take(std::size_t amount) {
        if (amount > left_)
            throw FlatError("it names the same bytes over and over");
        left_ -= amount;
    }

  private:
    static constexpr std::uint64_t kTimes = 16, kFree = 4096;
    std::uint64_t left_;
};

static void check_indices(const std::vector<std::int64_t>& indices, std::size_t count, std::int64_t least) {
    for (const std::int64_t i : indices)
        if (i < least || i >= static_cast<std::int64_t>(count))
            throw FlatError("an operator names a tensor that is not there");
}

static TfliteOperator read_operator(const FlatTable& table, const std::vector<TfliteCode>& codes) {
    const auto code = table.number<std::uint32_t>(0, 0);
    if (code >= codes.size())
        throw FlatError("an operator has a kind that is not listed");
    return {.code = codes[code].code,
            .custom = codes[code].custom,
            .inputs = table.integers<std::int32_t>(1),
            .outputs = table.integers<std::int32_t>(2),
            .options = table.table(4),
            .options_2 = table.table(12),
            .custom_options = table.vector(5, 1)};
}

static TfliteSubgraph read_subgraph(const FlatTable& table, const std::vector<TfliteBytes>& buffers,
                                    const std::vector<TfliteCode>& codes, TfliteBudget& budget) {
    TfliteSubgraph out;
    out.name = table.text(4, kLongestTfliteName);
    for (const FlatTable& one : table.tables(0)) {
        out.tensors.push_back(read_tflite_tensor(one, buffers));
        budget.take(out.tensors.back().name.size() + out.tensors.back().shape.size());
    }
    out.inputs = table.integers<std::int32_t>(1);
    out.outputs = table.integers<std::int32_t>(2);
    check_indices(out.inputs, out.tensors.size(), 0);
    check_indices(out.outputs, out.tensors.size(), 0);
    const auto written = [&](const std::vector<std::int64_t>& indices) {
        for (const std::int64_t i : indices)
            out.tensors[static_cast<std::size_t>(i)].written = true;
    };
    written(out.inputs);
    for (const FlatTable& one : table.tables(3)) {
        TfliteOperator op = read_operator(one, codes);
        budget.take(op.inputs.size() + op.outputs.size() + op.custom.size());
        check_indices(op.inputs, out.tensors.size(), -1);
        check_indices(op.outputs, out.tensors.size(), 0);
        written(op.outputs);
        out.operators.push_back(std::move(op));
    }
    return out;
}

bool TfliteTensor::empty() const {
    return std::ranges::find(shape, 0) != shape.end();
}

bool TfliteTensor::quantized() const {
    return scales > 0 && (type == DataType::int8 || type == DataType::uint8 || type == DataType::int16 ||
                          type == DataType::int4 || (type == DataType::int32 && constant()) ||
                          (type == DataType::int64 && constant()));
}

TfliteModel read_tflite(const FlatBuffer& buffer) {
    constexpr std::uint64_t kIdentifier = 4;
    std::array<std::uint8_t, 4> identifier{};
    buffer.read(kIdentifier, identifier.data(), identifier.size());
    if (std::memcmp(identifier.data(), "TFL3", identifier.size()) != 0)
        throw FlatError("it does not carry the mark TFL3");
    const FlatTable model = buffer.root();
    const auto subgraphs = model.tables(2);
    if (subgraphs.empty())
        throw FlatError("it has no graph");
    const auto buffers = read_buffers(model);
    const auto codes = read_codes(model);
    TfliteBudget budget(buffer.size());
    TfliteModel out;
    for (const FlatTable& table : subgraphs)
        out.graphs.push_back(read_subgraph(table, buffers, codes, budget));
    for (const FlatTable& table : model.tables(7)) {
        TfliteSignature signature{table.text(2, kLongestTfliteName), table.number<std::uint32_t>(4, 0)};
        budget.take(signature.name.size() + 1);
        if (signature.graph >= out.graphs.size())
            throw FlatError("a signature names a graph that is not there");
        out.signatures.push_back(std::move(signature));
    }
    return out;
}

} // namespace archsim::import
