"""beacons.py - from a change of a watched file to the end of the job that reacts to it, beside an event that is fired on the master."""

import os
import time

import fleet
from fleet import BenchError

PING = """pinged:
  local.test.ping:
    - tgt: {{ data['id'] }}
"""
MORE_MS = 3
SETTLE_S = 0.02  # after a job: its acknowledgement and commit


def run(bench):
    site, root = bench.site, bench.site.folder()
    sls, watched = os.path.join(root, "react.sls"), os.path.join(root, "watched")
    for path, text in ((sls, PING), (watched, "")):
        with open(path, "w") as f:
            f.write(text)
    master = site.master(reactor=[{"bench/react": [sls]}, {"salt/beacon/*/inotify/*": [sls]}])
    master.start()
    beacons = {"inotify": [{"files": {watched: {"mask": ["close_write"]}}}, {"disable_during_state_run": False}]}
    minion = site.minion(master, "m001", beacons=beacons)
    minion.start()
    bench.accept(master, "m001")
    with master.client() as ears, master.client() as operator:
        if not ears.call("events", tags=["salt/job/*/ret/m001"])["ok"]:
            raise BenchError("the master does not tell events")

        def change():
            with open(watched, "w") as f:
                f.write("x")

        def fire():
            operator.send("fire", tag="bench/react", data={"id": "m001"})

        def took(begin):
            start = time.monotonic_ns()
            begin()
            while ears.next().get("push") != "event":
                pass
            took_ms = (time.monotonic_ns() - start) / 1e6
            time.sleep(SETTLE_S)
            return took_ms

        # The beacon's first look may come after the connection.
        ears.sock.settimeout(0.5)
        fleet.wait_for("the beacon", 20, lambda: answered(took, change), 0.1)
        ears.sock.settimeout(60)
        for begin in (change, fire) * 10:
            took(begin)
        pairs = [(took(fire), took(change)) for _ in range(bench.runs(200))]
    bench.report.add("event fired on the master to the end of its reaction", [fired for fired, _ in pairs], "ms")
    bench.report.add("file changed on the minion to the end of its reaction", [changed for _, changed in pairs], "ms")
    bench.report.add("the latter above the former", [changed - fired for fired, changed in pairs], "ms", target=MORE_MS)
    site.end()
    bench.pair = None


def answered(took, change):
    try:
        took(change)
        return True
    except TimeoutError:
        return False
