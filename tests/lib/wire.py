#!/usr/bin/env python3
"""wire.py - hostile peers below libzmq: what a TCP connection can carry before, inside and instead of ZMTP.

    wire.py hold PORT N WHAT FILE   N connections that stand at WHAT until FILE exists, `held` when they do; those that are
                                    cut are opened again. WHAT: silent (not a byte), greeting (ZMTP's 64 bytes),
                                    frame:BYTES (the greeting, then a command of BYTES of which the last is missing)
    wire.py proxy PORT DIR [AFTER]  prints a port of its own that leads to PORT; what the n-th client sent is DIR/n. Of what
                                    comes back, after so many bytes, one bit of each piece is another
    wire.py stuff PORT BYTES FILE END   such a proxy until END exists; when FILE does each connection sends a frame of BYTES of
                                    which the last is missing, and `stuffed` says that they have
    wire.py replay PORT FILE        what was recorded, sent again in one piece and in small ones
    wire.py cut PORT FILE [STEP]    every beginning of the recording on a connection of its own, which then ends
    wire.py flip PORT FILE [STEP]   the recording with one bit of one byte another
    wire.py salt PORT FILE          Salt's own requests, as its clients send them: ZMTP without encryption, and in it the
                                    msgpack of each line of FILE, {"enc": "clear", "load": ...} as JSON
    wire.py pack FILE DIR           the msgpack of line N of FILE becomes DIR/N
    wire.py master PORT FILE        a master of that kind on PORT: whoever connects gets these, one after the other

Each says on its last line how many bytes came back. Exit code 0 when it did what it was told, whatever came of it.
"""
import json
import os
import socket
import struct
import sys
import threading
import time

HOST = "127.0.0.1"
SIGNATURE = b"\xff" + b"\0" * 8 + b"\x7f\x03\x00"
PATIENCE = 5                                            # seconds until a connection that says nothing more is given up


def greeting(mechanism, server=False):
    return SIGNATURE + mechanism.ljust(20, b"\0") + bytes([server]) + b"\0" * 31


def frame(body, flags, claims=None):
    """A long frame of ZMTP. flags: 2, or 6 for a command."""
    return bytes([flags]) + struct.pack(">Q", len(body) if claims is None else claims) + body


def connect(port):
    one = socket.create_connection((HOST, port), 2)
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one


def rest(one, seconds):
    """How many bytes come until the other side ends it, or nothing has come for so long."""
    n = 0
    one.settimeout(seconds)
    try:
        while piece := one.recv(65536):
            n += len(piece)
    except OSError:
        pass
    return n


def spoken(port, data, piece=None):
    """Send, in pieces of that size; a peer that ends it meanwhile is no error. Bytes that came back."""
    with connect(port) as one:
        try:
            for at in range(0, len(data), piece or len(data) or 1):
                one.sendall(data[at:at + (piece or len(data))])
            one.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        return rest(one, PATIENCE)


# ---- connections that stand still -----------------------------------------------------------------------------

def gone(one):
    try:
        while one.recv(65536):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


def stand(port, what):
    one = connect(port)
    kind, _, size = what.partition(":")
    try:
        if kind != "silent":
            one.sendall(greeting(b"CURVE"))
        if kind == "frame":
            one.sendall(frame(b"x" * (int(size) - 1), 6, int(size)))
    except OSError:
        pass                                            # cut in the middle of it
    one.setblocking(False)
    return one


def hold(port, n, what, until):
    held, told = [], False
    while not os.path.exists(until):
        held = [one for one in held if not gone(one)]
        try:
            while len(held) < int(n) and not os.path.exists(until):
                held.append(stand(int(port), what))
        except OSError:
            pass
        if not told:
            print("held", flush=True)
            told = True
        time.sleep(0.02)
    return 0


# ---- a recording, and what can be made of it ------------------------------------------------------------------

def carry(source, sink, log, after=None):
    n = 0
    try:
        while data := source.recv(65536):
            if log:
                log.write(data)
                log.flush()
            n += len(data)
            if after is not None and n > after:
                data = data[:-1] + bytes([data[-1] ^ 1])
            sink.sendall(data)
    except OSError:
        pass
    for one in (source, sink):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def proxy(port, folder, after=None):
    door = socket.create_server((HOST, 0), backlog=64)
    print(door.getsockname()[1], flush=True)
    n = 0
    while True:
        client, _ = door.accept()
        server = connect(int(port))
        n += 1
        log = open(os.path.join(folder, str(n)), "wb")
        threading.Thread(target=carry, args=(client, server, log), daemon=True).start()
        back = (server, client, None, None if after is None else int(after))
        threading.Thread(target=carry, args=back, daemon=True).start()


def stuff(port, size, begin, end):
    door = socket.create_server((HOST, 0), backlog=64)
    door.setblocking(False)
    print(door.getsockname()[1], flush=True)
    servers = []
    while not os.path.exists(begin) and not os.path.exists(end):
        try:
            client, _ = door.accept()
        except BlockingIOError:
            time.sleep(0.01)
            continue
        servers.append((connect(int(port)), client))
        for one in servers[-1]:
            one.setblocking(True)
        for source, sink in (servers[-1], servers[-1][::-1]):
            threading.Thread(target=carry, args=(source, sink, None), daemon=True).start()
    for server, _ in servers:
        try:
            server.sendall(frame(b"x" * (int(size) - 1), 2, int(size)))
        except OSError:
            pass                                        # cut in the middle of it
    print("stuffed", flush=True)
    while not os.path.exists(end):
        time.sleep(0.02)
    return 0


def recording(path):
    with open(path, "rb") as file:
        return file.read()


def replay(port, path):
    data = recording(path)
    return spoken(int(port), data) + spoken(int(port), data, 97)


def cut(port, path, step="1"):
    data = recording(path)
    return sum(spoken(int(port), data[:n]) for n in range(0, len(data), int(step)))


def flip(port, path, step="1"):
    data = recording(path)
    return sum(spoken(int(port), data[:n] + bytes([data[n] ^ 1 << n % 8]) + data[n + 1:])
               for n in range(0, len(data), int(step)))


# ---- Salt's own wire -------------------------------------------------------------------------------------------

def msgpack(value):
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return b"\xd3" + struct.pack(">q", value)
    if isinstance(value, str):
        data = value.encode()
        return b"\xdb" + struct.pack(">I", len(data)) + data
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(msgpack, value))
    return b"\xdf" + struct.pack(">I", len(value)) + b"".join(msgpack(k) + msgpack(v) for k, v in value.items())


def requests(path):
    with open(path) as file:
        return [msgpack(json.loads(line)) for line in file]


def pack(path, folder):
    for n, body in enumerate(requests(path), 1):
        with open(os.path.join(folder, str(n)), "wb") as file:
            file.write(body)
    return 0


def greet(one, mechanism):
    """As libzmq does: each part when the other's part before is there: signature, version, the rest. Bytes that came."""
    n, whole = 0, greeting(mechanism)
    one.settimeout(PATIENCE)
    for begin, end, enough in ((0, 10, 10), (10, 12, 12), (12, 64, 64)):
        one.sendall(whole[begin:end])
        while n < enough and (piece := one.recv(enough - n)):
            n += len(piece)
    return n


def null_session(one, kind, messages, over=False):
    ready, n = b"\x05READY" + b"\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind, 0
    try:
        n = greet(one, b"NULL")
        one.sendall(frame(ready, 6))
        for body in messages:
            one.sendall(frame(b"", 3) + frame(body, 2))
        if over:
            one.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    return n + rest(one, PATIENCE)


def salt(port, path):
    n = 0
    for body in requests(path):
        with connect(int(port)) as one:
            n += null_session(one, b"REQ", [body], True)
    return n


def master(port, path):
    bodies = requests(path)
    door = socket.create_server((HOST, int(port)), backlog=64)
    print("listening", flush=True)
    while True:
        one, _ = door.accept()
        threading.Thread(target=null_session, args=(one, b"ROUTER", bodies), daemon=True).start()


KINDS = {one.__name__: one for one in (hold, proxy, stuff, replay, cut, flip, pack, salt, master)}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    print(KINDS[sys.argv[1]](*sys.argv[2:]), flush=True)
