#pragma once
// TensorFlow Lite files for tests, by the schema's field numbers.

#include "flat_maker.hpp"

#include <string>
#include <vector>

namespace archsim::test {

/// Linear quantisation: one scale, or one for every channel.
struct TfliteScales {
    std::size_t scales = 0;
};

class TfliteMaker {
  public:
    enum Type : std::int8_t { f32 = 0, f16 = 1, i32 = 2, u8 = 3, i64 = 4, boolean = 6, i16 = 7, i8 = 9 };

    /// A tensor; `bytes` of payload make it a constant. Returns its number.
    std::int32_t tensor(const std::string& name, const std::vector<std::int32_t>& shape, Type type = f32,
                        std::size_t bytes = 0, TfliteScales quantization = {}) {
        return constant(name, shape, type, std::string(bytes, '\1'), quantization);
    }
    std::int32_t constant(const std::string& name, const std::vector<std::int32_t>& shape, Type type,
                          const std::string& payload, TfliteScales quantization = {}) {
        FlatTableMaker t;
        t.vector(0, shape).number(1, type).text(3, name);
        if (!payload.empty()) {
            FlatTableMaker buffer;
            buffer.vector(0, std::vector<char>(payload.begin(), payload.end()));
            buffers_.push_back(buffer);
            t.number(2, static_cast<std::uint32_t>(buffers_.size() - 1));
        }
        if (quantization.scales > 0) {
            FlatTableMaker q;
            q.vector(2, std::vector<std::uint32_t>(quantization.scales, 0x3c000000))
                .vector(3, std::vector<std::int64_t>(quantization.scales, 0));
            t.table(4, q);
        }
        tensors_.push_back(t);
        return static_cast<std::int32_t>(tensors_.size() - 1);
    }
    std::int32_t ints(const std::vector<std::int32_t>& values) {
        std::string payload;
        for (const std::int32_t v : values)
            for (int i = 0; i < 4; ++i)
                payload += static_cast<char>((static_cast<std::uint32_t>(v) >> (8 * i)) & 0xff);
        return constant("ints_" + std::to_string(tensors_.size()), {static_cast<std::int32_t>(values.size())},
                        i32, payload);
    }
    void op(std::int32_t code, const std::vector<std::int32_t>& inputs,
            const std::vector<std::int32_t>& outputs, const FlatTableMaker& options = {},
            const std::string& custom = "") {
        FlatTableMaker kind, o;
        kind.number(0, static_cast<std::int8_t>(code < 127 ? code : 127)).number(3, code);
        if (!custom.empty())
            kind.text(1, custom);
        codes_.push_back(kind);
        o.number(0, static_cast<std::uint32_t>(codes_.size() - 1)).vector(1, inputs).vector(2, outputs);
        o.number(3, std::uint8_t{1}).table(4, options);
        operators_.push_back(o);
    }
    /// Conv2DOptions, DepthwiseConv2DOptions, Pool2DOptions.
    static FlatTableMaker conv(std::int32_t stride, std::int8_t activation = 0, std::int8_t padding = 0) {
        FlatTableMaker t;
        return t.number(0, padding).number(1, stride).number(2, stride).number(3, activation);
    }
    static FlatTableMaker depthwise(std::int32_t stride, std::int8_t activation = 0) {
        FlatTableMaker t;
        return t.number(0, std::int8_t{0})
            .number(1, stride)
            .number(2, stride)
            .number(3, 1)
            .number(4, activation);
    }
    static FlatTableMaker pool(std::int32_t size, std::int32_t stride) {
        FlatTableMaker t;
        return t.number(0, std::int8_t{1})
            .number(1, stride)
            .number(2, stride)
            .number(3, size)
            .number(4, size);
    }
    FlatTableMaker& last_tensor() { return tensors_.back(); }
    FlatTableMaker& last_op() { return operators_.back(); }

    /// Ends a graph that operators run: a loop's body, a branch. Graphs are numbered in this order behind the
    /// main one, which comes last here and first in the file.
    void end_graph(const std::vector<std::int32_t>& inputs, const std::vector<std::int32_t>& outputs,
                   const std::string& name) {
        graphs_.push_back(graph(inputs, outputs, name));
        tensors_.clear();
        operators_.clear();
    }
    /// A name under which graph `index` is called.
    void signature(const std::string& name, std::uint32_t index) {
        FlatTableMaker s;
        signatures_.push_back(s.text(2, name).number(4, index));
    }

    std::string bytes(const std::vector<std::int32_t>& inputs,
                      const std::vector<std::int32_t>& outputs) const {
        FlatTableMaker model;
        std::vector<FlatTableMaker> graphs = {graph(inputs, outputs, "main")};
        graphs.insert(graphs.end(), graphs_.begin(), graphs_.end());
        model.number(0, std::uint32_t{3}).tables(1, codes_).tables(2, graphs).text(3, "made for a test");
        model.tables(4, buffers_);
        if (!signatures_.empty())
            model.tables(7, signatures_);
        return model.buffer("TFL3");
    }

  private:
    FlatTableMaker graph(const std::vector<std::int32_t>& inputs, const std::vector<std::int32_t>& outputs,
                         const std::string& name) const {
        FlatTableMaker one;
        return one.tables(0, tensors_)
            .vector(1, inputs)
            .vector(2, outputs)
            .tables(3, operators_)
            .text(4, name);
    }

    std::vector<FlatTableMaker> tensors_, operators_, codes_, buffers_{FlatTableMaker{}}, graphs_,
        signatures_;
};

} // namespace archsim::test
