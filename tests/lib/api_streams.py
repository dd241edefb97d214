#!/usr/bin/python3
"""Streams of events: api_streams.py URL WHAT [ARGUMENT...]. Each WHAT is a function below; exit code 1 when it does not hold.
Of URL, http://127.0.0.1:PORT or https, a plain socket is used, so that what arrives is seen byte by byte."""
import base64
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import time
import urllib.parse

URL = urllib.parse.urlparse(sys.argv[1])


def connect(receive=0):
    sock = socket.socket()
    if receive:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    sock.settimeout(20)
    sock.connect((URL.hostname, URL.port))
    if URL.scheme == "https":
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        sock = context.wrap_socket(sock)
    return sock


def events(token, receive=0):
    """A stream, as it stands behind its head."""
    sock = connect(receive)
    sock.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\nX-Auth-Token: %s\r\n\r\n" % token.encode())
    got = b""
    while b"retry: 400\n" not in got:
        piece = sock.recv(1)
        assert piece, got
        got += piece
    assert b"200 OK" in got, got
    return sock


def websocket(token, query=""):
    sock = connect()
    sock.sendall(b"GET /ws/%s%s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                 b"Sec-WebSocket-Key: %s\r\n\r\n" % (token.encode(), query.encode(), base64.b64encode(os.urandom(16))))
    got = b""
    while not got.endswith(b"\r\n\r\n"):
        got += sock.recv(1)
    assert b"101 " in got, got
    sock.sendall(frame(1, b"websocket client ready"))
    sock.sendall(frame(9, b"there"))
    assert exactly(sock, 7) == b"\x8a\x05there"
    return sock


def frame(op, data):
    mask = b"mask"
    return bytes([0x80 | op, 0x80 | len(data)]) + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(data))


def until(sock, word, seconds=20):
    """The bytes until `word` came; None when the stream ended before."""
    sock.settimeout(seconds)
    got = b""
    while word not in got:
        piece = sock.recv(65536)
        if not piece:
            return None
        got += piece
    return got


def exactly(sock, n):
    got = b""
    while len(got) < n:
        piece = sock.recv(n - len(got))
        if not piece:
            break
        got += piece
    return got


def fire(sock_dir, *requests):
    """Requests to the master's local socket, each a length and JSON."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(sock_dir + "/master.sock")
        for n, request in enumerate(requests, 1):
            text = json.dumps({"op": "fire", "n": n, **request}).encode()
            line.sendall(struct.pack(">I", len(text)) + text)
            (size,) = struct.unpack(">I", exactly(line, 4))
            assert json.loads(exactly(line, size))["ok"]


def both(token, sock_dir):
    """The same event on both kinds of streams; a large one, too."""
    sse, ws = events(token), websocket(token)
    large = "x" * 300000
    fire(sock_dir, {"tag": "my/tag", "data": {"n": 1, "text": large}}, {"tag": "my/end", "data": {}})
    a, b = until(sse, b"tag: my/end"), until(ws, b'"my/end"')
    assert b"tag: my/tag\ndata: " in a and a.count(b"x") >= 300000
    assert b.startswith(b"\x81\x7f") and b.count(b"x") >= 300000, b[:50]
    ws.sendall(frame(8, b""))
    got = b""
    while piece := ws.recv(65536):
        got += piece
    assert got.endswith(b"\x88\x02\x03\xe8"), got[-20:]


def message(sock):
    """One text frame of the server, as a value."""
    head = exactly(sock, 2)
    assert head[0] == 0x81, head
    size = head[1]
    if size >= 126:
        size = int.from_bytes(exactly(sock, 2 if size == 126 else 8), "big")
    return json.loads(exactly(sock, size))


def formatted(token, command):
    """?format_events: jobs until one of test.echo is complete, and minions with their grains; a second stream sees the same."""
    socks = [websocket(token, query) for query in ("?format_events", "?format_events=1&x=2")]
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)
    for sock in socks:
        jobs, minions = {}, []
        while not any(job.get("fun") == "grains.items" and job["state"] == "complete" for job in jobs.values()) or not minions:
            got = message(sock)
            jobs, minions = got.get("jobs", jobs), got.get("minions", minions)
        echo = [job for job in jobs.values() if job["fun"] == "test.echo"][0]
        assert echo["state"] == "complete" and echo["tgt"] and echo["tgt_type"] == "list" and echo["start_time"], echo
        assert echo["minions"] == {"m1": {"return": "words", "retcode": 0, "success": True}}, echo
        assert [one["id"] for one in minions] == ["m1"] and minions[0]["grains"]["id"] == "m1", minions
        sock.close()
    # No more than a few at a time, as each may have megabytes under way.
    socks = []
    try:
        while len(socks) < 100:
            socks.append(websocket(token, "?format_events"))
    except AssertionError as refused:
        assert b" 503 " in refused.args[0], refused
    assert len(socks) == 32, len(socks)


def slow(token, sock_dir):
    """One that does not read is cut, and others miss nothing."""
    stalled, reader = events(token, 4096), events(token)
    ends = 0
    for n in range(40):
        fire(sock_dir, {"events": [{"tag": "flood/%d/%d" % (n, i), "data": {"text": "y" * 1000}} for i in range(500)]})
        got = until(reader, b"tag: flood/%d/499\n" % n)
        assert got is not None, "the reader was cut"
        ends += got.count(b"tag: flood/")
    assert ends == 40 * 500, ends
    stalled.settimeout(20)
    n = 0
    while piece := stalled.recv(1 << 20):
        n += len(piece)
    print("the stalled one got %d bytes of %d" % (n, 40 * 500 * 1100))


def ended(token, command):
    """Streams end when their session does."""
    sse, ws = events(token), websocket(token)
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)
    assert until(sse, b"never", 10) is None and until(ws, b"never", 10) is None


def gone(token, count):
    """Clients that go away leave nothing behind: the figure halite_api_streams tells."""
    socks = [events(token) for _ in range(int(count))]
    assert figure(token) >= int(count)
    for sock in socks:
        sock.close()
    end = time.monotonic() + 10
    while figure(token) > 0:
        assert time.monotonic() < end, figure(token)
        time.sleep(0.05)


def figure(token):
    sock = connect()
    sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Auth-Token: %s\r\n\r\n" % token.encode())
    got = b""
    while piece := sock.recv(65536):
        got += piece
    line = [line for line in got.decode().splitlines() if line.startswith("halite_api_streams ")]
    return int(line[0].split()[1])


if __name__ == "__main__":
    globals()[sys.argv[2]](*sys.argv[3:])
