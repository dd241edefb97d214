"""files.py - a file of one gigabyte from the file server to a minion, beside a plain copy through a TCP socket in the same
run (read, send, receive, write, no encryption) and beside one through nothing but libzmq with CURVE. See bench.py."""

import os
import re
import socket
import subprocess
import time

import fleet

SIZE = 1 << 30
PIECE = 256 * 1024


def plain_copy(source, dest):
    """Seconds for the bytes of `source` through a loopback connection to `dest`, one process at each end."""
    server = socket.create_server(("127.0.0.1", 0))
    start = time.monotonic()
    pid = os.fork()
    if pid == 0:
        with socket.create_connection(server.getsockname()) as line, open(source, "rb", buffering=0) as f:
            piece = memoryview(bytearray(PIECE))
            while n := f.readinto(piece):
                line.sendall(piece[:n])
        os._exit(0)
    line, _ = server.accept()
    piece = memoryview(bytearray(PIECE))
    with line, server, open(dest, "wb", buffering=0) as f:
        while n := line.recv_into(piece):
            f.write(piece[:n])
    os.waitpid(pid, 0)
    took = time.monotonic() - start
    os.unlink(dest)
    return took


def curve_copy(bench, source, dest):
    """The same through a bare CURVE connection, in pieces as large as the file server's."""
    tool = os.path.join(bench.site.tools, "rawfile")
    took = float(subprocess.run([tool, source, dest, str(PIECE)], stdout=subprocess.PIPE, check=True).stdout)
    os.unlink(dest)
    return took


def peak_kb(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"VmHWM:\s*(\d+)", f.read()).group(1))


def run(bench):
    folder = bench.site.folder()
    source, dest = os.path.join(folder, "big"), os.path.join(folder, "copy")
    with open(source, "wb") as f:
        for _ in range(SIZE // (1 << 20)):
            f.write(os.urandom(1 << 20))
    master = bench.site.master(file_roots={"base": [folder]})
    master.start()
    minion = bench.site.minion(master, "m003")
    minion.start()
    bench.accept(master, "m003")
    out = os.path.join(folder, "out")
    plain, curve, files = [], [], []
    for _ in range(bench.runs(5)):
        plain.append(plain_copy(source, dest) * 1e3)
        curve.append(curve_copy(bench, source, dest) * 1e3)
        took, code = fleet.run_timed(master.command("salt", "m003", "cp.get_file", "salt://big", dest), out)
        if code != 0 or os.path.getsize(dest) != SIZE:
            raise fleet.BenchError(f"cp.get_file: exit code {code}")
        files.append(took)
        os.unlink(dest)
    bench.report.add("1 GiB through a plain TCP socket", plain, "ms")
    base, floor = (sorted(times)[len(times) // 2] for times in (plain, curve))
    bench.report.add("1 GiB through bare libzmq with CURVE", curve, "ms", base=("plain TCP socket", base))
    bench.report.add("1 GiB by cp.get_file, whole command", files, "ms", target=1.5 * base, base=("plain TCP socket", base),
                     note=f"{sorted(files)[len(files) // 2] / floor:.2f} x bare libzmq with CURVE")
    bench.report.add("peak memory of the master meanwhile", [peak_kb(master.process.pid)], "kB")
    peaks = [peak_kb(pid) for pid in fleet.process_tree(minion.process.pid)]
    bench.report.add("peak memory of the minion's largest process", [max(peaks)], "kB")
    bench.site.end()
    bench.pair = None
