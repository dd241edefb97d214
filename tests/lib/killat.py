#!/usr/bin/env python3
"""killat.py - end a process with SIGKILL as soon as its store has so many rows more than now.

    killat.py DATABASE PID ROWS
    killat.py DATABASE PID count

The second form prints how many there are. The first prints "ready" when it looks, then "killed"; or "ended" when the process ended by itself, or "idle" on end of stdin.
Rows are runs, steps (one more when a step ends), notes and returns: each state of an orchestration's journal.
"""
import os
import select
import signal
import sqlite3
import sys

COUNT = """SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM runs WHERE end_us > 0) + (SELECT count(*) FROM steps)
    + (SELECT count(*) FROM steps WHERE end_us > 0) + (SELECT count(*) FROM notes) + (SELECT count(*) FROM returns)"""


def main(path, pid, rows):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    if rows == "count":
        print(db.execute(COUNT).fetchone()[0])
        return
    until = db.execute(COUNT).fetchone()[0] + int(rows)
    print("ready", flush=True)
    while db.execute(COUNT).fetchone()[0] < until:
        if select.select([sys.stdin], [], [], 0)[0]:
            print("idle", flush=True)
            return
    os.kill(pid, signal.SIGKILL)
    print("killed", flush=True)


main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
