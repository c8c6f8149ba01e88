#!/usr/bin/python3
"""A client of the Model Context Protocol that holds `archsim mcp` to it: client.py MODELS COMMAND...

MODELS: the folder of the catalogue's graphs; COMMAND: what starts the server, `archsim mcp`. It asks as an assistant asks, as
one that errs, and as one that means harm; whatever it sends, a message of the protocol and nothing else comes back, and the
server lives.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602

# What each tool is asked, in a folder with measured rows of one device. `history` asks a database of results, which main() makes where
# the program can.
VALID = {
    "compare_models": {"model": ["resnet18"], "hardware": ["H100", "Jetson-Orin-Nano@15W"], "batch_size": 8},
    "compare_architectures": {"model": "resnet18", "architectures": ["GPU", "TPU"]},
    "explain_difference": {"model": ["resnet18"], "hardware": ["H100", "A100"], "metric": "energy"},
    "analyze_comprehensive": {"model": "resnet18", "hardware": "H100", "max_rows": 3},
    "analyze_graph_mapping": {"model": "resnet18", "hardware": "H100", "precision": "int8"},
    "analyze_batch": {"model": "resnet18", "hardware": ["H100"], "batch_sizes": "1,8"},
    "serve_model": {"model": "tinyllama-1.1b", "hardware": ["H100"], "precision": "fp16", "rate": 2, "requests": 50},
    "check_model": {"model": "vit_b_16", "hardware": ["Hailo-8", "H100"], "precision": "int8"},
    "check_budget": {"model": ["resnet18"], "hardware": ["H100"], "max_latency": "20ms", "certainty": 90},
    "sweep_design_space": {"model": ["resnet18"], "hardware": ["TPU-v4"], "vary": ["bandwidth=0.5x,1x,2x"]},
    "profile_graph": {"model": "resnet18", "dim": {"batch": 2}},
    "discover_models": {"family": "resnet"},
    "list_hardware_mappers": {"show": "H100"},
    "size_service": {"model": "qwen3-8b", "hardware": ["L40S"], "rate": 8, "ttft_p99": "500ms"},
    "local_models": {"on": "Jetson-Orin-Nano", "kind": "vision", "max_rows": 3},
    "validate_estimates": {"measurements": ["rows.csv"]},
    "calibrate_device": {"measurements": ["rows.csv"], "device": "Coral-Edge-TPU"},
}
WRITING = {"output", "save", "junit", "subgraphs", "save_baseline", "config"}
EVERY = {"model": ["resnet18"], "hardware": ["H100"], "max_rows": 2}
HOSTILE = [None, True, -1, 0, 1e308, 2**70, "x" * 100_000, "", "-", "--help", "\x00", "\x1b[2J\u202e", [], {}, [[[]]], {"a": {"b": 1}},
           ["H100", 7, None], {"batch": "many"}, "../outside.onnx", "/etc/passwd", "H100,/etc/passwd", "x=/etc/passwd", "link.onnx",
           "$(touch harm)", "'; touch harm; '"]
OUTSIDE = ["../outside.onnx", "/etc/passwd", "H100,/etc/passwd", "x=/etc/passwd", "link.onnx"]


class Server:
    def __init__(self, command, folder):
        environment = {**os.environ, "HOME": str(folder)}
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment)
        self.next_id = 0

    def send(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else line.encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), f"the server ended: {self.process.wait()}, {self.process.stderr.read()[-2000:]}"
        return json.loads(line)

    def answer_to(self, line):
        self.send(line)
        return self.receive()

    def ask(self, method, params=None):
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method}
        if params is not None:
            message["params"] = params
        answer = self.answer_to(json.dumps(message))
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.next_id, answer
        assert ("result" in answer) != ("error" in answer), answer
        return answer

    def result(self, method, params=None):
        answer = self.ask(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def call(self, tool, arguments):
        result = self.result("tools/call", {"name": tool, "arguments": arguments})
        assert set(result) <= {"content", "structuredContent", "isError"}, result
        assert isinstance(result["isError"], bool) and result["content"], result
        for part in result["content"]:
            assert part["type"] == "text" and part["text"] and "\x1b" not in part["text"], part
            assert "fault of" not in part["text"], f"{tool} {str(arguments)[:300]}: {part['text']}"
        assert isinstance(result.get("structuredContent", {}), dict), result
        return result

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        assert self.process.wait(60) == 0 and rest == b"", rest
        return self.process.stderr.read().decode()


def text_of(result):
    return "\n".join(part["text"] for part in result["content"])


def check_agreement(server):
    for version in [*VERSIONS, "1999-01-01", 7, None]:
        agreed = server.result("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        assert agreed["protocolVersion"] == (version if version in VERSIONS else VERSIONS[0]), agreed
        assert agreed["serverInfo"]["name"] == "archsim" and "tools" in agreed["capabilities"], agreed
    server.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    assert server.result("ping") == {}


def check_schema(schema, where):
    """What a JSON Schema of ours may hold."""
    known = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description", "minimum", "maximum",
             "default"}
    assert set(schema) <= known, (where, set(schema) - known)
    kinds = schema.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        assert kind in {"object", "array", "string", "integer", "number", "boolean"}, (where, kind)
    for name, one in schema.get("properties", {}).items():
        check_schema(one, f"{where}/{name}")
        assert one.get("description"), f"{where}/{name} says nothing"
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            check_schema(schema[name], f"{where}/{name}")
    for one in schema.get("anyOf", []):
        check_schema(one, where)
    assert set(schema.get("required", [])) <= set(schema.get("properties", {})), where


def check_list(server):
    tools = server.result("tools/list")["tools"]
    names = [tool["name"] for tool in tools]
    assert len(set(names)) == len(names) and set(VALID) | {"history"} == set(names), names
    for tool in tools:
        assert tool["description"] and tool["title"], tool["name"]
        assert tool["inputSchema"]["type"] == "object" and tool["inputSchema"]["additionalProperties"] is False
        check_schema(tool["inputSchema"], tool["name"])
        offered = tool["inputSchema"]["properties"].items()
        writing = [key for key, one in offered if key in WRITING or "write" in one["description"].split()]
        assert not writing, f"{tool['name']} offers {writing}"
    assert server.ask("tools/list", {"cursor": "x"})["error"]["code"] == INVALID_PARAMS
    return tools


JSON_TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None)}


def check_promise(schema, document):
    """Every member of an answer is one that the list of tools names, of the type that it says."""
    assert set(schema["required"]) <= set(document), set(document)
    for key, value in document.items():
        said = schema["properties"][key].get("type", list(JSON_TYPES))
        kinds = [said] if isinstance(said, str) else said
        assert any(isinstance(value, JSON_TYPES[kind]) for kind in kinds), (key, said, type(value))


def check_core(server):
    """What an assistant is offered where nobody says which: few words, verdicts first, answers of at most 10 kB."""
    check_agreement(server)
    tools = server.result("tools/list")["tools"]
    assert len(tools) == 6 and len(json.dumps(tools)) <= 20_000, (len(tools), len(json.dumps(tools)))
    for tool in tools:
        check_schema(tool["inputSchema"], tool["name"])
        assert not any("the same as" in one["description"] for one in tool["inputSchema"]["properties"].values()), tool["name"]
        asked = {key: value for key, value in VALID[tool["name"]].items() if key != "max_rows"}
        wide = {**asked, "hardware": ["H100", "A100", "L4", "L40S", "RTX-4090"]} if tool["name"] == "compare_models" else asked
        for arguments in [asked, wide]:
            result = server.call(tool["name"], arguments)
            assert not result["isError"] and len(json.dumps(result)) <= 10_000, (tool["name"], len(json.dumps(result)), text_of(result)[:300])
            check_promise(tool["outputSchema"], result["structuredContent"])
    # An argument that the list only names.
    assert not server.call("compare_models", {"model": "resnet18", "hardware": "H100", "runtime": "tensorrt"})["isError"]
    server.end()


def check_valid(server, tools):
    for tool in tools:
        name = tool["name"]
        if name not in VALID:
            continue
        result = server.call(name, VALID[name])
        assert not result["isError"], text_of(result)
        assert result["structuredContent"]["schema"] == f"archsim.{name}/1", result["structuredContent"]["schema"]
        assert len(json.dumps(result)) < 300_000, f"{name}: {len(json.dumps(result))} bytes"
    one = server.call("compare_models", {"model": "resnet18", "hardware": ["H100"], "precision": "int8"})
    assert one["structuredContent"]["results"][0]["hardware"] == "H100" and "H100" in text_of(one)
    # A key's other spellings, numbers as texts, null as nothing.
    same = server.call("compare-models".replace("-", "_"), {"model": ["resnet18"], "hardware": "H100", "precision": "int8", "batch-size": "1",
                                                            "runtime": None})
    assert same["structuredContent"]["results"] == one["structuredContent"]["results"]
    # A list that is cut says so, and is whole on demand.
    cut = server.call("discover_models", {"max_rows": 2})
    assert len(cut["structuredContent"]["models"]) == 2 and "the first 2 of" in text_of(cut)
    # What is asked stays whole, and a handful of devices before what each holds.
    boards = ["STM32F746", "STM32H743", "ESP32"]
    few = server.call("compare_models", {"model": "keyword_spotting", "hardware": boards, "max_memory": "320KB"})
    assert few["structuredContent"]["request"]["hardware"] == boards, few["structuredContent"]["request"]
    assert len(few["structuredContent"]["results"]) == len(boards) and len(json.dumps(few)) < 12_000, text_of(few)
    # The whole verdict, with what was asked beside the ranking, however much else is cut.
    lasting = server.call("compare_models", {"model": "person_detection", "hardware": ["nRF5340", "ESP32-S3"], "every": "1s", "battery": "2000mAh"})
    assert "on the battery" in text_of(lasting), text_of(lasting)
    load = server.call("size_service", {"model": "llama-3.1-8b", "hardware": "H100", "users": 500, "ttft_p99": "1s"})
    assert "500 users" in text_of(load) and "requests/s" in text_of(load), text_of(load)
    whole = server.call("profile_graph", {"model": "resnet50"})["structuredContent"]
    assert whole["verdict"]["lines"] and whole.get("request") is not None, list(whole)
    assert len(server.call("discover_models", {"max_rows": 0})["structuredContent"]["models"]) > 100
    # A file of the folder.
    assert not server.call("profile_graph", {"model": "inside.onnx"})["isError"]


def check_requests(server, tools):
    """The request of an answer is an argument list of the same tool; what is offered is taken, numbers as numbers."""
    for tool in tools:
        first = server.call(tool["name"], {**VALID.get(tool["name"], {}), "max_rows": 0})
        request = first.get("structuredContent", {}).get("request")
        if request is not None:
            again = server.call(tool["name"], {**request, "max_rows": 0})
            assert again == first, (tool["name"], text_of(again)[:500])
        verdict = first.get("structuredContent", {}).get("verdict")
        assert verdict is None or verdict["lines"], tool["name"]
        for name, value in VALID.get(tool["name"], {}).items():
            if isinstance(value, (int, float)) and name in tool["inputSchema"]["properties"]:
                schema = tool["inputSchema"]["properties"][name]
                types = schema.get("anyOf", [schema])[0]["type"]
                assert {"integer", "number"} & set([types] if isinstance(types, str) else types), (tool["name"], name)
        for name, value in {"sort": "hardware", "top": 1}.items():
            if name in tool["inputSchema"]["properties"]:
                refused = text_of(server.call(tool["name"], {**VALID.get(tool["name"], {}), name: value}))
                assert "order tables" not in refused, (tool["name"], refused)


def check_measured(server, tools):
    """What was measured of a language model is taken by every tool that takes measurements, whatever ran before."""
    row = "llama-3-8b bf16 on H100 decode = 130/s"
    question = {"model": ["llama-3-8b"], "hardware": ["H100"], "prompt_tokens": 512, "generate_tokens": 128, "measured": [row]}
    first = server.call("compare_models", question)
    assert not first["isError"], text_of(first)
    without = server.call("compare_models", {**question, "measured": []})
    assert without["structuredContent"]["results"] != first["structuredContent"]["results"], "the row says nothing"
    takers = [tool["name"] for tool in tools if "measured" in tool["inputSchema"]["properties"]]
    assert {"compare_models", "analyze_comprehensive", "serve_model", "size_service", "local_models"} <= set(takers), takers
    for name in takers:
        result = server.call(name, {**VALID[name], "measured": [row]})
        assert not result["isError"], f"{name}: {text_of(result)}"
    assert server.call("compare_models", question) == first, "the same question has another answer after others"


def check_shapes(server):
    """One name or a list of names, texts or objects: the same answer; what cannot be is said of the argument, by its name."""
    def results(**arguments):
        answer = server.call("compare_models", arguments)
        assert not answer["isError"], (arguments, text_of(answer))
        return answer["structuredContent"]["results"]
    sizes = {"dim": {"height": 224, "width": 224}}
    wanted = results(model="resnet18", hardware="H100", precision="fp16", **sizes)
    for arguments in [{"model": ["resnet18"]}, {"hardware": ["H100"]}, {"precision": ["fp16"]}, {"dim": ["height=224", "width=224"]},
                      {"batch_size": "1"}, {"batch_size": [1]}]:
        assert results(**{"model": "resnet18", "hardware": "H100", "precision": "fp16", **sizes, **arguments}) == wanted, arguments
    for arguments, said in [({"hardware": {"a": 1}}, "hardware: "), ({"hardware": ["H100", ["A100"]]}, "hardware: "), ({"precision": "int7"}, "precision: "),
                            ({"prompt_tokens": "many"}, "prompt_tokens: ")]:
        answer = server.call("compare_models", {"model": "resnet18", "hardware": "H100", **arguments})
        assert answer["isError"] and said in text_of(answer) and "--" not in text_of(answer), (arguments, text_of(answer))
    advised = server.call("compare_models", {"model": "bert-base", "hardware": "Jetson-Orin-Nano", "precision": "fp32"})
    helps = advised["structuredContent"]["verdicts"][0]["helps"][0]["asks"]
    assert helps and "--" not in text_of(advised), text_of(advised)
    better = results(**{"model": "bert-base", "hardware": "Jetson-Orin-Nano", **helps[0]})
    assert better[0]["latency_s"] < advised["structuredContent"]["results"][0]["latency_s"] / 1.05


def check_errors(server, tools):
    error = server.ask("tools/call", {"name": "compare_model", "arguments": {}})["error"]
    assert error["code"] == INVALID_PARAMS and "compare_models" in error["message"], error
    for tool, arguments, hint in [("compare_models", {"model": ["resnet81"], "hardware": ["H100"]}, "resnet18"),
                                  ("compare_models", {"model": ["resnet18"], "hardware": ["H10"]}, "H100"),
                                  ("compare_models", {"model": ["resnet18"], "hardwear": ["H100"]}, "is hardware meant?"),
                                  ("compare_models", {"model": ["resnet18"], "hardware": ["H100"], "batch_size": "many"}, "batch"),
                                  ("compare_models", {"model": ["resnet18"], "save": "x.db"}, "no argument"),
                                  ("profile_graph", {"model": "-"}, "no standard input")]:
        result = server.call(tool, arguments)
        assert result["isError"] and hint in text_of(result), (arguments, text_of(result))
    for text in OUTSIDE:
        result = server.call("profile_graph", {"model": text})
        assert result["isError"] and "lies outside of" in text_of(result), (text, text_of(result))
        assert "root:" not in text_of(result)
    for tool in tools:
        assert server.call(tool["name"], {"no_such_argument": 1})["isError"]
        assert server.ask("tools/call", {"name": tool["name"], "arguments": [1]})["result"]["isError"]


def check_hostile(server, tools):
    """Every argument of every tool with values that it is not made for; each value meets each tool."""
    asked = 0
    for number, tool in enumerate(tools):
        properties = [name for name in tool["inputSchema"]["properties"]]
        base = {key: value for key, value in EVERY.items() if key in properties}
        for at, name in enumerate(properties):
            for value in [HOSTILE[(number + at) % len(HOSTILE)]]:
                if tool["name"] in ("validate_estimates", "calibrate_device") and value in (None, True, [], {}):
                    continue # asks for measurements in earnest
                server.call(tool["name"], {**base, name: value})
                asked += 1
        for value in HOSTILE: # as its most usual argument
            server.call(tool["name"], {"hardware": value} if "hardware" in properties else {properties[0]: value})
            asked += 1
    return asked


def check_messages(server):
    for line, code in [("{", PARSE_ERROR), ("nonsense", PARSE_ERROR), (b"\xff\xfe{}", PARSE_ERROR), ('{"a": "\xff"'.encode("latin-1"), PARSE_ERROR),
                       ("7", INVALID_REQUEST), ("null", INVALID_REQUEST), ("[]", INVALID_REQUEST), ("{}", INVALID_REQUEST),
                       ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}', INVALID_REQUEST),
                       ('{"jsonrpc": "2.0", "id": 1}', INVALID_REQUEST), ('{"jsonrpc": "2.0", "id": 1, "method": 7}', INVALID_REQUEST),
                       ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', INVALID_REQUEST),
                       ('{"jsonrpc": "2.0", "id": 1, "method": "no/such"}', NO_METHOD),
                       ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": 7}', INVALID_PARAMS),
                       ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}', INVALID_PARAMS),
                       ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', INVALID_PARAMS),
                       ("[" * 100_000 + "]" * 100_000, INVALID_REQUEST), ('{"a":' * 100_000, INVALID_REQUEST),
                       ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "' + "y" * 5_000_000 + '"}}', INVALID_REQUEST)]:
        answer = server.answer_to(line)
        assert answer["error"]["code"] == code, (line[:80], answer)
    # What is no question gets no answer: the next line is that of the ping.
    for line in ["", "  ", '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}',
                 '{"jsonrpc": "2.0", "id": 9, "result": {}}', '{"jsonrpc": "2.0", "method": "no/such"}']:
        server.send(line)
    assert server.result("ping") == {}
    assert server.answer_to('{"jsonrpc": "2.0", "id": "a text", "method": "ping"}')["id"] == "a text"
    assert server.answer_to('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\r')["result"] == {}
    # Several messages in a line belong to one revision alone; an older one has no structured content.
    batch = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}])
    assert server.answer_to(batch)["error"]["code"] == INVALID_REQUEST
    server.result("initialize", {"protocolVersion": "2025-03-26", "capabilities": {}})
    assert server.answer_to(batch) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    old = server.call("check_budget", VALID["check_budget"])
    assert "structuredContent" not in old and json.loads(old["content"][-1]["text"])["schema"] == "archsim.check_budget/1"
    server.result("initialize", {"protocolVersion": VERSIONS[0], "capabilities": {}})


def main():
    models, command = Path(sys.argv[1]), [shutil.which(sys.argv[2]) or sys.argv[2], *sys.argv[3:]]
    command[0] = str(Path(command[0]).absolute())
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "folder"
        folder.mkdir()
        shutil.copy(models / "resnet18.onnx", folder / "inside.onnx")
        shutil.copy(models / "resnet18.onnx", Path(scratch) / "outside.onnx")
        (folder / "link.onnx").symlink_to(Path(scratch) / "outside.onnx")
        shutil.copy(Path(__file__).parents[1] / "measured/coral.csv", folder / "rows.csv")
        # The package for Node.js has no SQLite.
        saving = [command[0], "compare_models", "resnet18", "--hardware", "H100", "--save", "runs.db"]
        if subprocess.run(saving, cwd=folder, capture_output=True).returncode == 0:
            VALID["history"] = {"file": "runs.db"}
        before = sorted(path.name for path in folder.iterdir())
        check_core(Server(command, folder))
        server = Server([*command, "--tools", "all"], folder)
        check_agreement(server)
        tools = check_list(server)
        check_measured(server, tools)
        check_valid(server, tools)
        check_requests(server, tools)
        check_errors(server, tools)
        check_shapes(server)
        check_messages(server)
        asked = check_hostile(server, tools)
        said = server.end()
        assert said == "", said
        after = sorted(path.name for path in folder.iterdir())
        assert after == before, f"files were written: {after}"
        # The folder may be named; without one that can be there is no server.
        elsewhere = Server([*command, "--files", str(folder), "--tools", "profile_graph", "compare_models"], Path(scratch))
        assert {tool["name"] for tool in elsewhere.result("tools/list")["tools"]} == {"profile_graph", "compare_models"}
        assert not elsewhere.call("profile_graph", {"model": "inside.onnx"})["isError"]
        assert elsewhere.call("profile_graph", {"model": str(Path(scratch) / "outside.onnx")})["isError"]
        elsewhere.end()
        wrong = subprocess.run([*command, "--files", "no/such"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
        assert b"--tools" in subprocess.run([*command, "--help"], capture_output=True).stdout
        none = subprocess.run([*command, "--tools", "profile_grph"], stdin=subprocess.DEVNULL, capture_output=True)
        assert none.returncode == 1 and b"is profile_graph meant?" in none.stderr, none
        assert wrong.returncode == 2 and wrong.stdout == b"" and b"is no folder" in wrong.stderr, wrong
    size = len(json.dumps(tools))
    print(f"{len(tools)} tools in {size} bytes, {asked} hostile calls: the protocol and nothing else")


main()
