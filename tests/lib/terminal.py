#!/usr/bin/python3
"""terminal.py - a program on a terminal, and what such a terminal may be sent.

terminal.py run [out|err|both] PROGRAM ARG...   its stdout, its stderr or both are a terminal in raw mode; what arrives there is
                                         written to stdout, byte for byte, and the other stream is left. stdin is its own.
                                         Ends with its exit code; SIGTERM and SIGINT go on to it. TERMINAL_COLUMNS is its width.
terminal.py tame [live]                  stdin is what a terminal got: fails, with the places, when something in it drives a
                                         terminal (but colours, bold, underline), turns text or hides it. live: a line of
                                         progress is drawn over itself meanwhile
"""

import os
import pty
import re
import signal
import sys
import termios
import tty
import unicodedata

STREAMS = {"out": (1,), "err": (2,), "both": (1, 2)}
COLOUR = r"[34]8;(?:5;\d+|2;\d+;\d+;\d+)"
NUMBER = rf"(?:0*(?:{COLOUR}|[014]|2[24]|[34][0-79]|9[0-7]|10[0-7])?)"
SGR = re.compile(rf"\x1b\[{NUMBER}(?:;{NUMBER})*m")
# Halite's own line of progress: it begins by erasing the last one, and holds no control character.
PROGRESS = re.compile(r"\r\x1b\[K(?:\d+ of \d+ [\x20-\x7e]*)?")
# Default ignorable characters that are no format characters.
HIDDEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def run(streams, argv):
    master, slave = pty.openpty()
    tty.setraw(slave)
    if "TERMINAL_COLUMNS" in os.environ:
        termios.tcsetwinsize(slave, (24, int(os.environ["TERMINAL_COLUMNS"])))
    pid = os.fork()
    if pid == 0:
        for fd in STREAMS[streams]:
            os.dup2(slave, fd)
        os.close(master)
        os.execvp(argv[0], argv)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda n, _: os.kill(pid, n))
    os.close(slave)
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the end of a terminal
            break
        if not part:
            break
        while part:
            part = part[os.write(1, part) :]
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def wild(char):
    return char not in "\n\t" and (
        unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") or HIDDEN.match(char) is not None
    )


def tame(live):
    data = sys.stdin.buffer.read()
    text = SGR.sub("", data.decode("utf-8", "surrogateescape"))
    text = PROGRESS.sub("", text) if live else text
    places = [i for i, char in enumerate(text) if wild(char)]
    for i in places[:10]:
        print(f"reaches the terminal: {text[i]!a} in {text[max(0, i - 30) : i + 30]!a}", file=sys.stderr)
    return 1 if places else 0


sys.exit(tame("live" in sys.argv[2:]) if sys.argv[1] == "tame" else run(sys.argv[2], sys.argv[3:]))
