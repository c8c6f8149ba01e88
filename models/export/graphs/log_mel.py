"""Log-mel spectrograms: what speech and audio models are fed with, and what their own graphs do not contain."""

from builder import GraphBuilder
from catalogue import Entry

# samples: of the clip; frame and hop in samples; bands of the mel scale; frames that are kept; `floor`: the
# quietest power that counts; `range`: decades below the loudest that are kept, as Whisper does.
CONFIGS = {
    "log-mel-whisper": {"samples": 480000, "frame": 400, "hop": 160, "bands": 80, "frames": 3000, "range": 8.0},
    "log-mel-clap": {"samples": 480000, "frame": 1024, "hop": 480, "bands": 64, "frames": 1001, "range": 0.0},
}


def build(name, c):
    """Frames around every hop of the mirrored clip, their power spectra, bands, logarithms."""
    g = GraphBuilder(name)
    bins = c["frame"] // 2 + 1
    audio = g.input("audio", ["batch", c["samples"]])
    half = c["frame"] // 2
    padded = g.node("Pad", "stft", [audio, g.ints(0, half, 0, half)], mode="reflect")
    signal = g.node("Unsqueeze", "stft", [padded, g.ints(2)])
    window = g.weight("window", [c["frame"]])
    step, length = g.int_scalar(c["hop"]), g.int_scalar(c["frame"])
    spectrum = g.node("STFT", "stft", [signal, step, window, length], onesided=1)
    power = g.node("ReduceSumSquare", "stft", [spectrum], axes=[3], keepdims=0)
    frames = c["samples"] // c["hop"] + 1
    if c["frames"] != frames:
        power = g.node("Slice", "stft", [power, g.ints(0), g.ints(c["frames"]), g.ints(1)])
    mel = g.node("MatMul", "mel", [power, g.weight("mel_filters", [bins, c["bands"]])])
    x = g.node("Log", "mel", [g.node("Max", "mel", [mel, g.scalar(1e-10)])])
    if c["range"] > 0:
        loudest = g.node("ReduceMax", "mel", [x], axes=[1, 2], keepdims=1)
        x = g.node("Max", "mel", [x, g.node("Sub", "mel", [loudest, g.scalar(c["range"])])])
        x = g.node("Mul", "mel", [g.node("Add", "mel", [x, g.scalar(4.0)]), g.scalar(0.25)])
    g.node("Transpose", "mel", [x], perm=[0, 2, 1], out="features")
    g.output("features", ["batch", c["bands"], c["frames"]])
    return g


def macs_formula(c):
    return f"batch*{c['frames']}*{c['frame'] // 2 + 1}*{c['bands']}"


COMMON = {
    "family": "log-mel",
    "task": "audio-features",
    "kind": "preprocessing",
    "catalogue": "audio",
    "dims": {"batch": 1},
    "buffers": ["window", "mel_filters"],
}
ABOUT = {
    "log-mel-whisper": {
        "title": "Log-mel spectrogram of Whisper (30 s at 16 kHz, 80 bands)",
        "source": "openai/whisper, whisper/audio.py: n_fft 400, hop 160, 80 bands, 30 s at 16 kHz; Radford et al. 2022",
    },
    "log-mel-clap": {
        "title": "Log-mel spectrogram of CLAP (10 s at 48 kHz, 64 bands)",
        "source": "laion/clap-htsat-unfused preprocessor_config.json: fft_window_size 1024, hop 480, 64 bands, 10 s at 48 kHz",
    },
}
ENTRIES = [
    Entry(
        name=name,
        build=lambda name=name, c=c: build(name, c),
        macs_formula=macs_formula(c),
        note="the graph before the model's own: transforms, filter bank, logarithms",
        published={"parameters": 0, "source": "definition: window and filter bank are constants"},
        **ABOUT[name],
        **COMMON,
    )
    for name, c in CONFIGS.items()
]
