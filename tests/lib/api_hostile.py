#!/usr/bin/python3
"""Clients that salt-api has to bear: api_hostile.py PORT WHAT [ARGUMENT...]. Each WHAT is a function below; exit code 1 and a
text when it is not borne."""
import base64
import concurrent.futures
import http.client
import socket
import ssl
import sys
import time

PORT = int(sys.argv[1])


def connect(tls=False, source="127.0.0.1"):
    sock = socket.create_connection(("127.0.0.1", PORT), timeout=60, source_address=(source, 0))
    if tls:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        sock = context.wrap_socket(sock)
    return sock


def raw(data, tls=False):
    """What comes back until the server closes or 5 seconds are silent."""
    sock = connect(tls)
    sock.settimeout(5)
    got = b""
    try:
        sock.sendall(data)
        while True:
            piece = sock.recv(65536)
            if not piece:
                break
            got += piece
    except (TimeoutError, ConnectionError):
        pass
    return got


def health():
    """Milliseconds that somebody else waits."""
    begin = time.monotonic()
    link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
    link.request("GET", "/health")
    assert link.getresponse().read() == b'{"status": "ok"}'
    link.close()
    return (time.monotonic() - begin) * 1000


def slow(count, seconds):
    """Half requests of several kinds: others are served meanwhile, and they end in time."""
    parts = [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ", b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
             b"POST /login HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"]
    socks = []
    for i in range(int(count)):
        sock = connect()
        sock.sendall(parts[i % len(parts)])
        socks.append(sock)
    assert health() < 2000
    begin = time.monotonic()
    end = begin + float(seconds)
    left = list(socks)
    while left and time.monotonic() < end:
        for sock in list(left):
            sock.settimeout(0.001)
            try:
                # One that keeps sending a byte now and then is not spared.
                sock.sendall(b"x")
                if sock.recv(4096) == b"":
                    left.remove(sock)
            except TimeoutError:
                pass
            except ConnectionError:
                left.remove(sock)
        assert health() < 2000
        time.sleep(0.2)
    assert not left, "%d half requests are still there" % len(left)


def pipeline():
    got = raw(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 20 + b"GET /nosuch HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert got.count(b"HTTP/1.1 200 OK") == 20 and got.count(b"HTTP/1.1 404") == 1, got[-300:]
    assert got.index(b"404") > got.rindex(b"200 OK")


def smuggle():
    """A request whose length two headers tell is refused, and what follows is not served."""
    body = b"0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    head = b"POST /login HTTP/1.1\r\nHost: x\r\n"
    for more in (b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % len(body), b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
                 b"Content-Length: 5\r\nContent-Length: 60\r\n", b"Content-Length: -1\r\n", b"Content-Length: 1x\r\n",
                 b"Content-Length: 99999999999999999999\r\n", b"Transfer-Encoding: xchunked\r\nContent-Length: 3\r\n"):
        got = raw(head + more + b"\r\n" + body)
        assert b"200 OK" not in got, (more, got)
        assert health() < 2000
    # A coding that isn't read is refused at once, not waited out.
    for coding in (b"gzip, chunked", b"chunked, identity", b"identity", b"xchunked"):
        got = raw(head + b"Transfer-Encoding: " + coding + b"\r\n\r\n" + body)
        assert got.startswith(b"HTTP/1.1 400 ") and b"200 OK" not in got, (coding, got)


def bytes_of_no_text(token):
    """Bytes that are no UTF-8 in path or query, and pieces of it in the log: all are answered."""
    for path in (b"/events?token=%ff", b"/events?salt_token=%c3", b"/events?%ff=x", b"/ws/%ff", b"/ws?token=%ff", b"/minions/%ff", b"/jobs/%80",
                 b"/keys/%ff", b"/hook/%ff", b"/%ff%fe"):
        for method in (b"GET", b"POST"):
            got = raw(method + b" " + path + b" HTTP/1.1\r\nHost: x\r\nX-Auth-Token: " + token.encode() + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            assert got.startswith(b"HTTP/1.1 400 "), (method, path, got)
    assert health() < 2000


def heads():
    big = b"x" * 100000
    for data in (b"GET /" + big + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + big + b"\r\n\r\n",
                 b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n", big, b"\0" * 1000, b"\r\n" * 1000, b"GET\r\n\r\n",
                 b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", b"GET http://other/ HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                 b"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", b"TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: x\r\nCookie: session_id=" + b"a" * 5000 + b"\r\nConnection: close\r\n\r\n",
                 b"GET /?" + b"a&" * 2000 + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"):
        got = raw(data)
        assert not got.startswith(b"HTTP/1.1 500"), (data[:50], got[:200])
        assert b"CONNECT" not in data or b"200" not in got
    assert health() < 2000


def upgrades(token):
    key = base64.b64encode(b"0" * 16)
    shake = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n"
    for request, want in (
            (b"GET /ws HTTP/1.1\r\nHost: x\r\n" + shake, b"401"),
            (b"GET /ws HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\nCookie: session_id=" + token.encode() + b"\r\n" + shake, b"403"),
            (b"GET /ws HTTP/1.1\r\nHost: x\r\nX-Auth-Token: " + token.encode() + b"\r\n", b"400"),
            (b"GET /ws HTTP/1.1\r\nHost: x\r\nX-Auth-Token: " + token.encode() + b"\r\n" + shake.replace(b"13", b"8"), b"400"),
            (b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n", b"200"),
            (b"POST /ws HTTP/1.1\r\nHost: x\r\nX-Auth-Token: " + token.encode() + b"\r\nContent-Length: 0\r\n" + shake, b"405")):
        got = raw(request + b"\r\n")
        assert got[9:12] == want, (request, got[:200])
    # Frames that break the rules end the connection with the code for that.
    for frame, code in ((b"\x81\x05hello", 1002), (b"\x81\xff" + b"\xff" * 12, 1009), (b"\xff\x80mask", 1002), (b"\x88\x80mask", 1000)):
        got = raw(b"GET /ws HTTP/1.1\r\nHost: x\r\nX-Auth-Token: " + token.encode() + b"\r\n" + shake + b"\r\n" + frame)
        assert b"101 Switching" in got and got.endswith(b"\x88\x02" + code.to_bytes(2, "big")), (frame, got)
    assert health() < 2000


def guess(count):
    """So many bad log-ins of one address; all but a few are told to wait, and from another one that user logs in at once."""
    body = b"eauth=sharedsecret&username=limited&password=guess"
    request = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    done = []

    def guesser(n):
        codes = {}
        sock = connect(source="127.0.0.2")
        file = sock.makefile("rb")
        for _ in range(n):
            sock.sendall(request)
            code = file.readline().split()[1]
            codes[code] = codes.get(code, 0) + 1
            length = 0
            while (line := file.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            file.read(length)
        return codes

    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        futures = [pool.submit(guesser, int(count) // 10) for _ in range(10)]
        waits = []
        while not all(future.done() for future in futures):
            waits.append(health())
            time.sleep(0.05)
        for future in futures:
            done.append(future.result())
    total = {}
    for codes in done:
        for code, n in codes.items():
            total[code] = total.get(code, 0) + n
    print(total, "others waited %.0f ms at most" % max(waits or [0]))
    assert set(total) <= {b"401", b"429"} and total[b"429"] > int(count) * 0.9, total
    assert max(waits or [0]) < 2000
    link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=20)
    link.request("POST", "/login", "eauth=sharedsecret&username=limited&password=secret",
                 {"Content-Type": "application/x-www-form-urlencoded"})
    assert link.getresponse().status == 200


def many(token, count):
    """So many clients at one time; all are answered."""
    body = b'[{"client":"local","tgt":"*","fun":"test.ping"}]'
    request = (b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Auth-Token: %s\r\nContent-Type: application/json\r\n"
               b"Content-Length: %d\r\n\r\n" % (token.encode(), len(body)) + body)
    socks = [connect() for _ in range(int(count))]
    for sock in socks:
        sock.sendall(request)
    for sock in socks:
        got = b""
        while piece := sock.recv(65536):
            got += piece
        assert got.startswith(b"HTTP/1.1 200"), got[:300]
    assert health() < 2000


def bodies():
    """Bodies that are too large, with and without a length said."""
    for data in (b"Content-Length: 50000000\r\n\r\n" + b"x" * 100000, b"Content-Length: 200000\r\n\r\n" + b"x" * 200000,
                 b"Transfer-Encoding: chunked\r\n\r\n" + b"10000\r\n" + b"x" * 65536 + b"\r\n10000\r\n" + b"x" * 65536 + b"\r\n0\r\n\r\n"):
        got = raw(b"POST /login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + data)
        assert b"413" in got[:20], got[:200]
    assert health() < 2000


if __name__ == "__main__":
    globals()[sys.argv[2]](*sys.argv[3:])
