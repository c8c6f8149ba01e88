"""The tools from Python: `python -m archsim.compare_models` and the commands that pip installs."""

import ctypes
import os
import signal
import sys

from . import _archsim


def run(tool):
    """Runs the tool with the arguments of this process and ends with its status."""
    words = [os.fsencode(word) for word in (tool, *sys.argv[1:])]
    arguments = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    # As for any program, and not when Python next looks.
    for stop in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(stop, signal.SIG_DFL)
    status = ctypes.CDLL(_archsim.__file__).archsim_main(len(words), arguments)
    ctypes.CDLL(None).fflush(None)
    os._exit(status)
