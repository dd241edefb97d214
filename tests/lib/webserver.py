#!/usr/bin/env python3
"""webserver.py - a web server on loopback that says what it was asked: webserver.py PORT_FILE [CERTIFICATE]

/echo says the request as JSON; /status/N answers with that status; /to?where redirects; /yaml, /plain, /pem answer in these
forms; /tagged has an ETag, /torn too, but not all of its bytes; /cookie sets one; /deep/N is so many lists inside each other;
/chunks/N is N KiB whose number is not said before, /flood too, and does not end; /bomb is a MiB that gzip has made small. Its port is in PORT_FILE once it
listens. With a file of certificate and key it speaks https.
"""
import gzip
import http.server
import json
import os
import ssl
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def say(self, status, text, kind="text/plain", fields=()):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def chunks(self, kib):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(kib):
            self.wfile.write(b"400\r\n" + b"x" * 1024 + b"\r\n")

    def answer(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size).decode()
        path = self.path
        if path.startswith("/status/"):
            self.say(int(path[8:]), "body of " + path[8:])
        elif path.startswith("/to?"):
            self.say(302, "elsewhere", fields=[("Location", path[4:])])
        elif path == "/yaml":
            self.say(200, "a: [1, two]\n", "text/yaml")
        elif path == "/plain":
            self.say(200, "just text", fields=[("X-One", "1"), ("x-one", "2")])
        elif path.startswith("/deep/"):
            self.say(200, "[" * int(path[6:]) + "]" * int(path[6:]), "application/json")
        elif path.startswith("/chunks/"):
            self.chunks(int(path[8:]))
            self.wfile.write(b"0\r\n\r\n")
        elif path == "/flood":
            self.chunks(4096)
            self.rfile.read(1)
        elif path == "/bomb":
            packed = gzip.compress(b"x" * (1 << 20))
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(packed)))
            self.end_headers()
            self.wfile.write(packed)
        elif path == "/pem":
            self.say(200, "-----BEGIN CERTIFICATE-----\nnew\n-----END CERTIFICATE-----\n")
        elif path in ("/tagged", "/torn"):
            # What /torn sends ends too early.
            if self.headers.get("If-None-Match") == '"one"' and path == "/tagged":
                self.send_response(304)
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("ETag", '"one"')
            self.send_header("Content-Length", "4" if path == "/tagged" else "5")
            self.end_headers()
            self.wfile.write(b"text")
            self.close_connection = True
        elif path == "/cookie":
            self.say(200, "set", fields=[("Set-Cookie", "flavour=oat; Max-Age=3600")])
        else:
            fields = {k.lower(): v for k, v in self.headers.items() if k.lower() not in ("host", "accept", "content-length")}
            what = {"method": self.command, "path": path, "headers": fields, "body": body}
            self.say(200, json.dumps(what, sort_keys=True), "application/json")

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = answer

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(sys.argv[2])
    server.socket = tls.wrap_socket(server.socket, server_side=True)
with open(sys.argv[1] + ".new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
