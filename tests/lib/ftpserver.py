#!/usr/bin/env python3
"""ftpserver.py - an FTP server on loopback with one file: ftpserver.py PORT_FILE USER PASSWORD

/file holds "by ftp"; every other path is not there. Who gives another login is refused. Its port is in PORT_FILE once it listens.
"""
import os
import socket
import sys


def serve(conn, user, password):
    """One session: the commands that a client needs to fetch a file in passive mode."""
    name, login, data = "", False, None

    def say(line):
        conn.sendall(line.encode() + b"\r\n")

    say("220 here")
    for line in conn.makefile("r", encoding="utf-8", newline="\r\n"):
        verb, _, word = line.strip().partition(" ")
        if verb == "USER":
            name = word
            say("331 password")
        elif verb == "PASS":
            login = (name, word) == (user, password)
            say("230 in" if login else "530 no")
        elif verb == "QUIT":
            say("221 bye")
            return
        elif not login:
            say("530 no")
        elif verb == "PWD":
            say('257 "/"')
        elif verb == "EPSV":
            data = socket.create_server(("127.0.0.1", 0))
            say("229 (|||%d|)" % data.getsockname()[1])
        elif verb == "TYPE":
            say("200 so be it")
        elif verb == "SIZE" and word == "file":
            say("213 6")
        elif verb == "RETR" and word == "file":
            say("150 it comes")
            to, _ = data.accept()
            to.sendall(b"by ftp")
            to.close()
            say("226 done")
        else:
            say("550 not here")


server = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w") as f:
    f.write(str(server.getsockname()[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    client, _ = server.accept()
    serve(client, sys.argv[2], sys.argv[3])
    client.close()
