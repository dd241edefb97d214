#!/usr/bin/env python3
"""soak_api.py - whether salt-api's memory stays flat, and the master's beside it, under every kind of its load at once: the recipe of
Salt's issue 69847 (events, log-ins, streams of events, a reader that stalls), with requests, hooks and failed log-ins beside.

  soak_api.py --build DIR [--minutes 60] [--events 500]

Memory is what is the processes' own (the PSS of anonymous pages): their share of a library's pages rises when another program that
maps it ends, by a megabyte and more on a machine that does other things. The PSS of all is shown, too. Flat means that the line
through the second half of the samples rises less than 1 %, or no more than its noise. One JSON line at the end; exit code 1 when it
is not flat, or when a request failed.
"""

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import time

import fleet
import soak
from fleet import BenchError
from halite import free_ports

GROWTH_MAX = 0.01
STREAMS, STALLED = 50, 5
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


class ApiSoak:
    """A master, a minion and salt-api, and what clients do."""

    def __init__(self, site, args):
        (self.port,) = free_ports(1)
        self.args, self.load, self.streams, self.stalled, self.sessions = args, soak.Load(), [], [], []
        self.master = site.master(
            sharedsecret="secret", external_auth={"sharedsecret": {"admin": [".*", "@runner", "@wheel", "@jobs"], "limited": ["test.*"]}},
            netapi_enable_clients=["local", "local_async", "runner", "wheel"], auto_accept=True, keep_jobs_seconds=300,
            rest_cherrypy={"port": self.port, "host": "127.0.0.1", "disable_ssl": True, "connections": 4000, "connections_per_address": 4000})
        self.master.start()
        self.minion = site.minion(self.master, "m1")
        self.minion.start()
        fleet.wait_for("m1", 30, lambda: "m1" in self.master.connected()[0])
        self.api = subprocess.Popen(self.master.command("salt-api"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        fleet.wait_for("salt-api", 30, self._answers)

    def _answers(self):
        try:
            return self.ask("GET", "/health")[0] == 200
        except OSError:
            return False

    def ask(self, method, path, body=None, token=None, headers=None, source="127.0.0.1"):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120, source_address=(source, 0))
        headers = dict(headers or {"Content-Type": "application/json", "Accept": "application/json"})
        if token:
            headers["X-Auth-Token"] = token
        link.request(method, path, body, headers)
        answer = link.getresponse()
        text = answer.read()
        link.close()
        return answer.status, text

    def want(self, *words, **more):
        status, text = self.ask(*words, **more)
        if status not in (200, 202):
            raise BenchError(f"{words[:2]}: {status} {text[:200]}")
        return json.loads(text)

    def login(self, user="admin"):
        return self.want("POST", "/login", f"eauth=sharedsecret&username={user}&password=secret", headers=FORM)["return"][0]["token"]

    def _logins(self):
        """A session for one of each three that ends, and some that nobody ends."""
        token = self.login("limited" if len(self.sessions) % 2 else "admin")
        self.sessions.append(token)
        if len(self.sessions) > 20:
            self.want("POST", "/logout", "{}", token=self.sessions.pop(0))

    def _guesses(self):
        status, _ = self.ask("POST", "/login", "eauth=sharedsecret&username=admin&password=wrong", headers=FORM, source="127.0.0.9")
        if status not in (401, 429):
            raise BenchError(f"a wrong password: {status}")

    def _events(self):
        n = max(1, self.args.events // 10)
        with self.master.client() as client:
            if not client.call("fire", events=[{"tag": f"soak/{i}", "data": {"number": i, "text": "x" * 200}} for i in range(n)])["ok"]:
                raise BenchError("the master does not take events")

    def _stream(self, receive=0):
        sock = socket.socket()
        if receive:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        sock.connect(("127.0.0.1", self.port))
        sock.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\nX-Auth-Token: %s\r\n\r\n" % self.token.encode())
        return sock

    def _streams(self):
        """One comes, the oldest of so many goes; all are read."""
        self.streams.append(self._stream())
        if len(self.streams) > STREAMS:
            self.streams.pop(0).close()
        for sock in self.streams:
            sock.setblocking(False)
            try:
                for _ in range(20):
                    if not sock.recv(65536):
                        break
            except BlockingIOError:
                pass

    def _stalls(self):
        self.stalled.append(self._stream(4096))
        if len(self.stalled) > STALLED:
            self.stalled.pop(0).close()

    def _requests(self):
        for chunk in ({"client": "local", "tgt": "m1", "fun": "test.ping"}, {"client": "runner", "fun": "manage.up"},
                      {"client": "wheel", "fun": "key.list_all"}):
            self.want("POST", "/", json.dumps([chunk]), token=self.token)
        for path in ("/jobs", "/minions", "/keys", "/stats", "/metrics"):
            status, text = self.ask("GET", path, token=self.token)
            if status != 200:
                raise BenchError(f"{path}: {status} {text[:200]}")
        self.want("POST", "/hook/soak", json.dumps({"text": "x" * 1000}), token=self.token)

    def run(self):
        self.token = self.login()
        for fn, pause in ((self._events, 0.1), (self._logins, 0.5), (self._guesses, 0.3), (self._streams, 0.05), (self._stalls, 5), (self._requests, 0.2)):
            self.load.begin(fn, pause)
        watched = [soak.Samples("salt-api", self.api.pid), soak.Samples("master", self.master.process.pid)]
        while not watched[0].all or watched[0].all[-1][0] < self.args.minutes * 60:
            for one in watched:
                one.take()
            time.sleep(min(2.0, self.args.minutes / 5))
            if self.load.wrong or self.api.poll() is not None:
                break
        self.load.stop()
        if self.load.wrong or self.api.poll() is not None:
            raise BenchError("".join(self.load.wrong) or "salt-api ended")
        found = {"minutes": self.args.minutes, "rounds": self.load.rounds, "flat": True}
        for one in watched:
            judged = half(one.own)
            judged["all_first_kb"], judged["all_last_kb"] = one.all[0][1], one.all[-1][1]
            found[one.what] = judged
            found["flat"] = found["flat"] and judged["flat"]
        return found

    def end(self):
        self.api.terminate()
        self.api.wait()
        self.minion.stop()
        self.master.stop()


def half(samples):
    """Of the second half of (seconds, kB): the line through the means of its pieces."""
    end = samples[-1][0]
    kept = [one for one in samples if one[0] >= end / 2]
    size = len(kept) / soak.PIECES
    pieces = [kept[int(i * size) : int((i + 1) * size)] for i in range(soak.PIECES)]
    slope, error, mean = soak.line_of([(sum(x for x, _ in p) / len(p), sum(y for _, y in p) / len(p)) for p in pieces])
    growth = slope * (kept[-1][0] - kept[0][0]) / mean
    return {"first_kb": samples[0][1], "mean_kb": round(mean), "last_kb": samples[-1][1], "highest_kb": max(kb for _, kb in samples),
            "growth_percent_of_last_half": round(growth * 100, 3), "noise_percent": round(error * (kept[-1][0] - kept[0][0]) / mean * 100, 3),
            "flat": growth < GROWTH_MAX or slope <= soak.T_MAX * error}


def main():
    parser = argparse.ArgumentParser(description="Whether salt-api's memory stays flat.")
    parser.add_argument("--build", default="build", help="where make put bin/ and tests/bench/ (default: build)")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--events", type=int, default=500, help="a second")
    args = parser.parse_args()
    build = os.path.abspath(args.build)
    with fleet.Site(os.path.join(build, "bin"), os.path.join(build, "tests/bench")) as site:
        running = None
        try:
            running = ApiSoak(site, args)
            found = running.run()
        except (BenchError, OSError) as why:
            print(json.dumps({"what": "api", "failed": str(why)}))
            return 1
        finally:
            if running is not None:
                running.end()
    print(json.dumps({"what": "api", **found}))
    return 0 if found["flat"] else 1


if __name__ == "__main__":
    sys.exit(main())
