// write_weights IN.onnx OUT.onnx: the same network with the bytes of its weights, all zero. The catalogue's
// files have none; with them a file is as large as what people have.

#include <cstdio>
#include <fstream>

#include <onnx/onnx_pb.h>

int main(int argc, char** argv) {
    constexpr int kArguments = 3;
    if (argc != kArguments)
        return std::fputs("usage: write_weights IN.onnx OUT.onnx\n", stderr), 1;
    onnx::ModelProto model;
    std::ifstream in(argv[1], std::ios::binary);
    if (!model.ParseFromIstream(&in))
        return std::fprintf(stderr, "write_weights: %s: no ONNX model\n", argv[1]), 2;
    for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
        if (tensor.data_type() != onnx::TensorProto::FLOAT || tensor.float_data_size() > 0)
            continue;
        std::size_t elements = 1;
        for (const std::int64_t size : tensor.dims())
            elements *= static_cast<std::size_t>(size);
        tensor.mutable_raw_data()->assign(elements * sizeof(float), '\0');
    }
    std::ofstream out(argv[2], std::ios::binary);
    if (!model.SerializeToOstream(&out) || !out.flush())
        return std::fprintf(stderr, "write_weights: %s: cannot be written\n", argv[2]), 2;
    return 0;
}
