#!/usr/bin/env python3
"""notified.py SOCKET FILE - a service manager's ear: each datagram that comes at SOCKET ("@name": abstract) is a line of FILE.

Several lines of one datagram are joined by a blank. Ends when it is ended.
"""
import os
import signal
import socket
import sys

name, path = sys.argv[1:]
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
ear.bind("\0" + name[1:] if name.startswith("@") else name)
try:
    with open(path, "a", buffering=1) as out:
        while True:
            out.write(ear.recv(65536).decode().replace("\n", " ") + "\n")
finally:
    if not name.startswith("@"):
        os.unlink(name)
