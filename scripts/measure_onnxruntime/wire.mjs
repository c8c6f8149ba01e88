// The protobuf wire format: what a field is and where its bytes lie, and fields made anew. It knows no message type;
// the numbers of ONNX's fields are in weights.mjs (onnx/onnx.proto3).

/** Reads a varint at `at`; a BigInt only where a Number would lose bits. */
function readVarint(bytes, at) {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
        if (at >= bytes.length) throw new Error("the file ends inside a number");
        const byte = bytes[at++];
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return [value, at];
        if (shift > 63n) throw new Error("a number has more than 64 bits");
    }
}

/** Every field of a message in order: {number, type, value, start, end}; `value` is a BigInt or the field's bytes. */
export function* fields(bytes) {
    let at = 0;
    while (at < bytes.length) {
        const start = at;
        let key, value;
        [key, at] = readVarint(bytes, at);
        const number = Number(key >> 3n), type = Number(key & 7n);
        if (type === 0) {
            [value, at] = readVarint(bytes, at);
        } else {
            let length = type === 1 ? 8 : type === 5 ? 4 : -1;
            if (type === 2) {
                let read;
                [read, at] = readVarint(bytes, at);
                length = Number(read);
            }
            if (length < 0 || at + length > bytes.length) throw new Error(`field ${number} cannot be read`);
            value = bytes.subarray(at, at + length);
            at += length;
        }
        yield { number, type, value, start, end: at };
    }
}

/** The numbers of a repeated varint field, packed or not. */
export function numbersOf(field) {
    if (field.type === 0) return [BigInt.asIntN(64, field.value)];
    const out = [];
    for (let at = 0, value; at < field.value.length; ) {
        [value, at] = readVarint(field.value, at);
        out.push(BigInt.asIntN(64, value));
    }
    return out;
}

function varint(value) {
    const out = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    do {
        const low = Number(rest & 0x7fn);
        rest >>= 7n;
        out.push(rest ? low | 0x80 : low);
    } while (rest);
    return Buffer.from(out);
}

/** A varint field. */
export const numberField = (number, value) => Buffer.concat([varint(number << 3), varint(value)]);
/** A length-delimited field: bytes, text or a message. */
export const bytesField = (number, value) => {
    const body = typeof value === "string" ? Buffer.from(value) : value;
    return Buffer.concat([varint((number << 3) | 2), varint(body.length), body]);
};
