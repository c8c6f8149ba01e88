// The calls of the system that emscripten 3.1.6 leaves out or answers without asking, as Node.js has them: an emscripten
// library, linked into the tools (cmake/Node.cmake).

mergeInto(LibraryManager.library, {
  // Threads cannot be made.
  emscripten_num_logical_cores: function () { return 1; },

  // No library of the system can be loaded, which is an answer (src/core/shared_object.cpp).
  _dlopen_js: function () { return 0; },

  // Whether a descriptor is a terminal, and its size.
  __syscall_ioctl__deps: ['$FS', '$SYSCALLS'],
  __syscall_ioctl: function (fd, request, more) {
    const TCGETS = 21505, TIOCGWINSZ = 21523, EBADF = 8, ENOTTY = 59;
    const stream = FS.getStream(fd);
    if (!stream) return -EBADF;
    if ((request !== TCGETS && request !== TIOCGWINSZ) || !stream.tty) return -ENOTTY;
    if (request === TIOCGWINSZ) {
      const at = {{{ makeGetValue('more', 0, 'i32') }}};
      const terminal = [process.stdin, process.stdout, process.stderr][stream.nfd];
      const [columns, rows] = terminal && terminal.getWindowSize ? terminal.getWindowSize() : [0, 0];
      [rows, columns, 0, 0].forEach((number, i) => { HEAP16[(at >> 1) + i] = number; });
    }
    return 0;
  },
});
