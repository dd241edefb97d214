#!/usr/bin/env python3
"""smtpserver.py - a small mail server on loopback that keeps what it gets: smtpserver.py PORT MAILS FAULTS [CERTIFICATE]

Each mail is a line of JSON in MAILS: its envelope, how its sender logged in, whether it came by TLS, its text. FAULTS, read
anew for each command, has lines "COMMAND ANSWER": the answer to that command (HELO, EHLO, STARTTLS, AUTH, MAIL, RCPT, DATA,
END for the text, CONNECT), or "slow", which never answers, or "cut", which ends the connection. With a file of certificate and
key it offers STARTTLS; a user "bob" has the password "secret".
"""
import base64
import json
import signal
import socketserver
import ssl
import sys
import threading

PORT, MAILS, FAULTS = int(sys.argv[1]), sys.argv[2], sys.argv[3]
CERTIFICATE = sys.argv[4] if len(sys.argv) > 4 else None
FOREVER = threading.Event()


class Cut(Exception):
    pass


def fault(command):
    try:
        with open(FAULTS) as lines:
            for line in lines:
                name, _, answer = line.strip().partition(" ")
                if name == command:
                    return answer
    except FileNotFoundError:
        pass
    return None


class Session(socketserver.BaseRequestHandler):
    def say(self, text):
        self.line.sendall(text.encode() + b"\r\n")

    def answer(self, command, text):
        """Says the usual answer, or the fault. True when it was the usual one."""
        other = fault(command)
        if other == "slow":
            FOREVER.wait()
        if other == "cut":
            raise Cut
        self.say(other or text)
        return other is None

    def read(self):
        while b"\n" not in self.rest:
            piece = self.line.recv(65536)
            if not piece:
                raise Cut
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return line.rstrip(b"\r")

    def login(self, words):
        if words[0] == "PLAIN":
            text = words[1] if len(words) > 1 else self.ask("334 ")
            user, password = base64.b64decode(text).decode().split("\0")[1:]
        else:
            user = base64.b64decode(words[1] if len(words) > 1 else self.ask("334 VXNlcm5hbWU6")).decode()
            password = base64.b64decode(self.ask("334 UGFzc3dvcmQ6")).decode()
        good = (user, password) == ("bob", "secret")
        if self.answer("AUTH", "235 2.7.0 good" if good else "535 5.7.8 Authentication credentials invalid") and good:
            self.mail["auth"] = [words[0], user]

    def ask(self, text):
        self.say(text)
        return self.read().decode()

    def data(self):
        if not self.answer("DATA", "354 go on"):
            return
        lines = []
        while (line := self.read()) != b".":
            lines.append(line[1:] if line.startswith(b".") else line)
        if self.answer("END", "250 2.0.0 kept"):
            mail = dict(self.mail, text=b"\r\n".join(lines).decode("utf-8", "backslashreplace"))
            with open(MAILS, "a") as out:
                out.write(json.dumps(mail, sort_keys=True, ensure_ascii=False) + "\n")

    def command(self, words):
        name = words[0].upper()
        if name == "EHLO":
            offers = ["STARTTLS"] if CERTIFICATE and "tls" not in self.mail else []
            self.answer(name, "\r\n".join(["250-here"] + ["250-" + o for o in offers] + ["250 AUTH PLAIN LOGIN"]))
        elif name == "STARTTLS":
            if self.answer(name, "220 begin"):
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(CERTIFICATE)
                self.line = context.wrap_socket(self.line, server_side=True)
                self.mail["tls"] = True
        elif name == "AUTH":
            self.login(words[1:])
        elif name == "MAIL":
            if self.answer(name, "250 ok"):
                self.mail["from"], self.mail["to"] = words[1].partition(":")[2], []
        elif name == "RCPT":
            who = words[1].partition(":")[2]
            if (other := fault("RCPT:" + who)) is not None:
                self.say(other)
            elif self.answer(name, "250 ok"):
                self.mail["to"].append(who)
        elif name == "DATA":
            self.data()
        else:
            self.answer(name, "221 bye" if name == "QUIT" else "250 ok")
        return name != "QUIT"

    def handle(self):
        self.line, self.rest, self.mail = self.request, b"", {}
        try:
            self.answer("CONNECT", "220 here ESMTP")
            while self.command(self.read().decode().split(" ")):
                pass
        except (Cut, OSError):
            pass
        self.line.close()


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *args: sys.exit(0))
    Server(("127.0.0.1", PORT), Session).serve_forever()
