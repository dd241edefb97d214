#!/usr/bin/python3
"""What known clients of salt-api send, call by call, and what they read of the answers: api_clients.py URL CLIENT. Each client is a
function below. The sequences are those of rundeck-plugins/salt-step, jenkinsci/saltstack-plugin and SUSE/salt-netapi-client."""
import base64
import http.client
import json
import os
import re
import socket
import sys
import time
import urllib.parse

URL = urllib.parse.urlparse(sys.argv[1])
USER, PASSWORD = "admin", "secret"


def call(method, path, body=None, kind=None, **headers):
    """(status, headers, text) of a request on a connection of its own."""
    link = http.client.HTTPConnection(URL.hostname, URL.port, timeout=60)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if kind:
        headers["Content-Type"] = kind
    link.request(method, path, body, headers)
    answer = link.getresponse()
    text = answer.read().decode()
    link.close()
    return answer.status, answer.headers, text


def later(seconds, fn):
    """The first value of fn() that is not None."""
    end = time.monotonic() + seconds
    while (value := fn()) is None:
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.1)
    return value


# ---- Rundeck: the plug-in salt-step --------------------------------------------------------------------------------------


def rundeck():
    # Its HTTP library tells the character set as a coding of the content as well.
    form = {"kind": "application/x-www-form-urlencoded", "Content_Encoding": "UTF-8"}

    def login(password):
        return call("POST", "/login", urllib.parse.urlencode({"username": USER, "password": password, "eauth": "sharedsecret"}), **form)

    assert login("wrong")[0] == 401
    status, headers, _ = login(PASSWORD)
    assert status == 200
    token = {"X_Auth_Token": headers["X-Auth-Token"], "Accept": "application/json"}

    def step(*words):
        status, _, text = call("POST", "/minions", urllib.parse.urlencode([("fun", words[0]), ("tgt", "m1")] + [("arg", word) for word in words[1:]]),
                               **form, **token)
        assert status == 202, text
        # The handler of answers reads the first of the list.
        job = json.loads(text)["return"][0]
        assert job["minions"] == ["m1"], job

        def poll():
            status, _, text = call("GET", "/jobs/" + job["jid"], **token)
            assert status == 200
            answers = json.loads(text)["return"]
            assert len(answers) <= 1
            return answers[0].get("m1") if answers else None

        return later(20, poll)

    assert step("test.echo", "words of Rundeck") == "words of Rundeck"
    assert step("cmd.run", "echo one two", "python_shell=True") == "one two"
    assert step("test.kwarg", "a=1", "b=x")["b"] == "x"
    assert call("GET", "/logout", **token)[0] in (200, 405)  # sent at the end, and never looked at


# ---- Jenkins: saltstack-plugin -------------------------------------------------------------------------------------------


def jenkins():
    def post(path, value, token=None):
        return call("POST", path, json.dumps(value), "application/json", Accept="application/json", **({"X_Auth_Token": token} if token else {}))

    status, headers, text = post("/login", {"username": USER, "password": PASSWORD, "eauth": "sharedsecret"})
    assert status == 200
    # A log-in without this header fails there; one that says TornadoServer has answers of other shapes.
    assert headers["Server"] and "TornadoServer" not in headers["Server"], headers.items()
    token = json.loads(text)["return"][-1]["token"]

    def builds(**chunk):
        status, _, text = post("/", chunk, token)
        assert status == 200, text
        return json.loads(text)["return"]

    assert builds(client="local", tgt="m*", expr_form="glob", tgt_type="glob", fun="test.ping") == [{"m1": True}]
    assert builds(client="local", tgt="m1", tgt_type="list", fun="test.arg", arg=["a", 1], kwarg={"b": "c d"})[0]["m1"]["args"] == ["a", 1]
    assert builds(client="local", tgt="nobody", tgt_type="glob", fun="test.ping") == [{}]
    assert builds(client="local_batch", tgt="*", tgt_type="glob", batch="1", fun="test.ping") == [{"m1": True}]
    assert builds(client="local_subset", tgt="*", tgt_type="glob", sub=1, fun="test.ping") == [{"m1": True}]
    assert builds(client="runner", fun="manage.present", full_return=True)[0]["data"]["return"] == ["m1"]
    full = builds(client="local", tgt="m1", tgt_type="glob", fun="cmd.run", arg="exit 3", full_return=True)[0]["m1"]
    assert full["retcode"] == 3, full
    assert "is not available" in builds(client="local", tgt="m1", tgt_type="glob", fun="nosuch.function")[0]["m1"]
    # A build that blocks: a jid of /minions, then Minions and Result of /jobs/JID.
    status, _, text = post("/minions", {"client": "local_async", "tgt": "m1", "tgt_type": "glob", "fun": "test.sleep", "arg": [1]}, token)
    assert status == 202
    jid = json.loads(text)["return"][0]["jid"]

    def poll():
        status, _, text = call("GET", "/jobs/" + jid, Accept="application/json", X_Auth_Token=token)
        info = json.loads(text)["info"][0]
        assert status == 200 and info["Minions"] == ["m1"], info
        return info["Result"] if len([one for one in info["Result"].values() if isinstance(one, dict)]) == 1 else None

    assert later(20, poll)["m1"]["return"] is True
    status, _, text = post("/minions", {"client": "local_async", "tgt": "nobody", "tgt_type": "glob", "fun": "test.ping"}, token)
    assert json.loads(text)["return"][0] == {}
    assert json.loads(post("/hook/jenkins/done", {"build": 7}, token)[2]) == {"success": True}


# ---- the Java client of SUSE's Uyuni ---------------------------------------------------------------------------------------


def suse():
    def post(path, text, token=None):
        return call("POST", path, text, "application/json; charset=UTF-8", Accept="application/json", **({"X_Auth_Token": token} if token else {}))

    credentials = {"username": USER, "password": PASSWORD, "eauth": "sharedsecret"}
    assert post("/login", json.dumps({**credentials, "password": "wrong"}))[0] == 401
    status, _, text = post("/login", json.dumps(credentials))
    login = json.loads(text)["return"][0]
    assert status == 200 and {"token", "start", "expire", "user", "eauth", "perms"} <= set(login), login
    assert isinstance(login["start"], float) and login["perms"], login
    token = login["token"]
    # By a session, and by credentials in each chunk.
    for path, more in (("/", {}), ("/run", credentials)):
        def ask(**chunk):
            status, _, text = post(path, json.dumps([{**chunk, **more}]), token if path == "/" else None)
            assert status == 200, text
            return json.loads(text)["return"][0]

        local = ask(client="local", fun="test.ping", tgt="*", tgt_type="glob", full_return=True)
        assert local["m1"]["ret"] is True and local["m1"]["retcode"] == 0 and re.fullmatch(r"\d{20}", local["m1"]["jid"]), local
        begun = ask(client="local_async", fun="test.ping", tgt=["m1"], tgt_type="list")
        assert begun["minions"] == ["m1"], begun
        runner = ask(client="runner", fun="manage.present", full_return=True)
        assert runner["data"]["success"] is True and runner["data"]["return"] == ["m1"] and runner["tag"].startswith("salt/run/"), runner
        tag = ask(client="runner_async", fun="manage.present")
        assert tag["tag"] == "salt/run/" + tag["jid"], tag
        wheel = ask(client="wheel", fun="key.list_all")
        assert wheel["data"]["success"] is True and wheel["data"]["return"]["minions"] == ["m1"], wheel
        tag = ask(client="wheel_async", fun="key.list_all")
        assert tag["tag"] == "salt/wheel/" + tag["jid"], tag
    status, _, text = call("GET", "/stats", Accept="application/json", X_Auth_Token=token)
    stats = json.loads(text)
    assert status == 200 and "CherryPy Applications" in stats and any("Worker Threads" in one for one in stats.values()), stats
    suse_events(token)
    status, _, text = post("/logout", "", token)
    assert status == 200 and json.loads(text)["return"] == "Your token has been cleared", text
    assert post("/", json.dumps([{"client": "local", "fun": "test.ping", "tgt": "*"}]), token)[0] == 401


def suse_frame(file):
    """A frame's first byte and its content."""
    first, size = file.read(2)
    if size >= 126:
        size = int.from_bytes(file.read(2 if size == 126 else 8), "big")
    return first, file.read(size)


def suse_events(token):
    """Its stream: a text of six letters, "data: ", and an event of which it takes tag and data."""
    sock = socket.create_connection((URL.hostname, URL.port), timeout=30)
    sock.sendall(("GET /ws/%s HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: %s\r\n\r\n" % (token, base64.b64encode(os.urandom(16)).decode())).encode())
    file = sock.makefile("rb")
    assert b"101" in file.readline()
    while file.readline() != b"\r\n":
        pass
    ready = b"websocket client ready"
    sock.sendall(bytes([0x81, 0x80 | len(ready)]) + b"mask" + bytes(c ^ b"mask"[i % 4] for i, c in enumerate(ready)))
    sock.sendall(b"\x89\x80mask")
    while suse_frame(file)[0] != 0x8a:
        pass
    call("POST", "/hook/suse", "{}", "application/json", X_Auth_Token=token)
    while True:
        text = suse_frame(file)[1].decode()
        assert text.startswith("data: "), text
        event = json.loads(text[6:])
        if event["tag"] == "salt/netapi/hook/suse":
            assert event["data"]["_stamp"], event
            break
    sock.close()


if __name__ == "__main__":
    globals()[sys.argv[2]]()
