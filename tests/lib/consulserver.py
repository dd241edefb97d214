#!/usr/bin/env python3
"""consulserver.py - plays a Consul server on loopback for a case, in the network of the case.

consulserver.py ANSWERS: a JSON object of "METHOD /path?query" to the answer's body, or to [status, body]; without a query to those with
any. A GET that it does not have is 404, anything else true. What is asked goes to the file `requests`, a line each: method, path,
token, body. Consul itself is in no package of Debian."""
import http.server, json, os, select, subprocess, sys, threading, urllib.request

sys.dont_write_bytecode = True
import caseowner

PORT = 8500


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self):
        if self.path == "/quit":
            server.socket.close()
            os._exit(0)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        with open("requests", "a") as f:
            f.write(" ".join([self.command, self.path, self.headers.get("X-Consul-Token") or "-", body]).rstrip() + "\n")
        whole = f"{self.command} {self.path}"
        said = answers.get(whole, answers.get(whole.partition("?")[0], [404, ""] if self.command == "GET" else True))
        status, data = said if isinstance(said, list) and len(said) == 2 and isinstance(said[0], int) else (200, said)
        raw = data.encode() if status != 200 else json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_PUT = do_DELETE = do_POST = answer


owner = caseowner.find()
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
try:  # one that an earlier folder of the same case has left
    urllib.request.urlopen(f"http://127.0.0.1:{PORT}/quit", timeout=5)
except OSError:
    pass
with open(sys.argv[1]) as f:
    answers = json.load(f)
server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
if os.fork() == 0:
    caseowner.leave(owner, server.fileno())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    select.select([owner], [], [], 300)
    os._exit(0)
