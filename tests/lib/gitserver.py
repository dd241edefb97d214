#!/usr/bin/env python3
"""gitserver.py - a git server by https on loopback: gitserver.py PORT_FILE FOLDER CERTIFICATE LOGIN_FILE

Serves the bare repositories in FOLDER (git update-server-info) to who has the login, which LOGIN_FILE has as USER:PASSWORD at
that moment. CERTIFICATE is a file with certificate and key. The port is in PORT_FILE once it listens.
"""
import base64
import http.server
import os
import ssl
import sys

port_file, folder, certificate, login_file = sys.argv[1:]


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=folder)

    def do_GET(self):
        with open(login_file, "rb") as f:
            want = "Basic " + base64.b64encode(f.read().rstrip(b"\n")).decode()
        if self.headers.get("Authorization") == want:
            super().do_GET()
            return
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Basic realm=git")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(port_file + ".new", "w") as f:
    f.write(str(server.server_address[1]))
os.rename(port_file + ".new", port_file)
server.serve_forever()
