"""api.py - figures of salt-api: requests a second for test.ping of one minion and for /jobs, and the memory of a stream of events, in
the clear and under TLS.

A figure beside real salt-api needs one: HALITE_REAL_API, the address of one that runs (http://127.0.0.1:PORT) with the same user,
password and minion: sharedsecret, `admin`, `secret`, `m1`.
"""

import contextlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

import fleet
from halite import Trouble, free_ports, wait_for

JOBS = 100  # that /jobs lists
CHUNK = json.dumps([{"client": "local", "tgt": "m1", "fun": "test.ping"}])


def login(address, tls=None):
    link = http.client.HTTPSConnection(address, timeout=60, context=tls) if tls else http.client.HTTPConnection(address, timeout=60)
    link.request("POST", "/login", "eauth=sharedsecret&username=admin&password=secret",
                 {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"})
    answer = json.load(link.getresponse())
    return answer["return"][0]["token"]


def rate(address, token, method, path, body, count, clients=8):
    """Requests a second of so many clients, each on a connection of its own."""
    headers = {"X-Auth-Token": token, "Accept": "application/json", "Content-Type": "application/json"}
    bad = []

    def client():
        link = http.client.HTTPConnection(address, timeout=120)
        for _ in range(count // clients):
            link.request(method, path, body, headers)
            answer = link.getresponse()
            answer.read()
            if answer.status != 200:
                bad.append(answer.status)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if bad:
        raise Trouble(f"{method} {path}: answers {bad[:3]}")
    return count // clients * clients / (time.monotonic() - start)


def count_jobs(address):
    link = http.client.HTTPConnection(address, timeout=120)
    link.request("GET", "/jobs", None, {"X-Auth-Token": login(address), "Accept": "application/json"})
    return len(json.load(link.getresponse())["return"][0])


def stream_kb(address, token, pid, count, tls=None):
    """Kilobytes of the process for each of so many streams that wait for events."""
    host, port = address.split(":")
    before, socks = fleet.memory_kb(pid, "Rss"), []
    for _ in range(count):
        sock = socket.create_connection((host, int(port)), timeout=60)
        if tls:
            sock = tls.wrap_socket(sock)
        sock.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\nX-Auth-Token: %s\r\n\r\n" % token.encode())
        socks.append(sock)
    for sock in socks:
        while b"retry" not in sock.recv(4096):
            pass
    each = (fleet.memory_kb(pid, "Rss") - before) / count
    for sock in socks:
        sock.close()
    return each


@contextlib.contextmanager
def api_of(master, rest):
    """A salt-api with this section rest_cherrypy: (address, process id)."""
    path = os.path.join(master.conf_dir, "master")
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("rest_cherrypy:")]
    with open(path, "w", encoding="utf-8") as file:
        file.writelines([*lines, f"rest_cherrypy: {json.dumps(rest)}\n"])
    api = subprocess.Popen(master.command("salt-api"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def answers():
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", rest["port"])).close()
            return True
        return False
    try:
        wait_for("salt-api", 30, answers)
        yield f"127.0.0.1:{rest['port']}", api.pid
    finally:
        api.terminate()
        api.wait()


def certificate(folder):
    """Paths of a certificate and its key, made now."""
    crt, key = os.path.join(folder, "api.crt"), os.path.join(folder, "api.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-keyout", key, "-out", crt], check=True, stderr=subprocess.DEVNULL)
    return crt, key


def run(bench):
    (port,) = free_ports(1)
    count = 500 if bench.quick else 3000
    rest = {"port": port, "host": "127.0.0.1", "connections": 20000, "connections_per_address": 20000}
    master = bench.site.master(
        sharedsecret="secret", external_auth={"sharedsecret": {"admin": [".*", "@runner", "@wheel", "@jobs"]}},
        netapi_enable_clients=["local", "runner"], auto_accept=True, rest_cherrypy=rest)
    master.start()
    minion = bench.site.minion(master, "m1")
    minion.start()
    wait_for("m1", 30, lambda: "m1" in master.connected()[0])
    streams = 1000 if bench.quick else 9000
    try:
        with api_of(master, {**rest, "disable_ssl": True}) as (address, pid):
            token = login(address)
            kinds = [("GET /jobs", "GET", "/jobs", None), ("test.ping of one minion by POST /", "POST", "/", CHUNK)]
            real = urllib.parse.urlparse(os.environ.get("HALITE_REAL_API", "")).netloc
            # Lists of both have as many jobs.
            known = [count_jobs(one) for one in (address, real) if one]
            for one, has in zip((address, real), known):
                rate(one, login(one), "POST", "/", CHUNK, max(JOBS, *known) - has, 1)
            for title, method, path, body in kinds:
                ours = [rate(address, token, method, path, body, count // 10) for _ in range(3)]
                bench.report.add(f"salt-api: {title}", ours, "/s", more=True)
                if real:
                    theirs = [rate(real, login(real), method, path, body, 16, 2)]
                    bench.report.add(f"the same of Salt's own at {real}", theirs, "/s", more=True)
            kb = stream_kb(address, token, pid, streams)
            bench.report.add(f"salt-api: memory of each of {streams} streams of events", [kb], "kB", target=12)
        crt, key = certificate(master.root)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        with api_of(master, {**rest, "ssl_crt": crt, "ssl_key": key}) as (address, pid):
            kb = stream_kb(address, login(address, tls), pid, streams, tls)
            bench.report.add("salt-api: the same under TLS", [kb], "kB")
    finally:
        minion.stop()
        master.stop()
