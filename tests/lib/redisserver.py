#!/usr/bin/env python3
"""redisserver.py - real Redis servers on loopback for a case file, in the network of the case.

redisserver.py [--password TEXT] [--replica PORT] [--sentinel NAME] [COMMANDS]: a server on port 6379 that has run the
commands of a file (a line each, for redis-cli), an empty server on another port, and a sentinel that knows the first server by a
name. Those that an earlier call has left on these ports end first. All of them end with the
process that has started the shell which runs this."""
import argparse, os, signal, socket, subprocess, sys, time

sys.dont_write_bytecode = True
import caseowner

PORT, SENTINEL = 6379, 26379


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def until(what, *args):
    end = time.monotonic() + 20
    while not what(*args):
        if time.monotonic() > end:
            sys.exit("redisserver: no change of the server within 20 seconds")
        time.sleep(0.01)


def stop(port, password):
    env = dict(os.environ, REDISCLI_AUTH=password) if password else None
    subprocess.run(["redis-cli", "-p", str(port), "shutdown", "nosave"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: not answers(port))


def start(port, *options):
    if answers(port):
        stop(port, args.password)
    os.makedirs(f"redis-{port}", exist_ok=True)
    log = open(f"redis-{port}/log", "w")
    server = subprocess.Popen(["redis-server", *options, "--port", str(port), "--bind", "0.0.0.0", "--dir", f"redis-{port}", "--protected-mode", "no"],
                              stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    until(answers, port)
    return server.pid


parser = argparse.ArgumentParser()
parser.add_argument("--password", default="")
parser.add_argument("--replica", type=int)
parser.add_argument("--sentinel")
parser.add_argument("--address", default="127.0.0.1", help="of the server, as the sentinel tells it")
parser.add_argument("commands", nargs="?")
args = parser.parse_args()

owner = caseowner.find()
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
if args.address != "127.0.0.1":
    subprocess.run(["ip", "address", "replace", f"{args.address}/32", "dev", "lo"], check=True)
pids = [start(PORT, "--save", "", "--appendonly", "no")]
if args.commands:
    with open(args.commands) as f:
        subprocess.run(["redis-cli", "-e"], stdin=f, stdout=subprocess.DEVNULL, check=True)
if args.password:
    subprocess.run(["redis-cli", "config", "set", "requirepass", args.password], stdout=subprocess.DEVNULL, check=True)
if args.replica:
    pids.append(start(args.replica, "--save", ""))
if args.sentinel:
    with open("sentinel.conf", "w") as f:
        f.write(f"sentinel monitor {args.sentinel} {args.address} {PORT} 1\n")
    pids.append(start(SENTINEL, "sentinel.conf", "--sentinel"))
if os.fork() == 0:
    caseowner.await_end(owner)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
