#!/usr/bin/python3
"""Replay requests whose answers were recorded from Salt's own salt-api, and compare status, types, headers and the
shape of the answers: keys and types of values, and the texts of errors.

    api_replay.py URL CASES JID      JID: a job of this master, for the request that looks one up

A case: {"name", "method", "path", "headers", "body"?, "large"?: bytes, "salt": {"status", "headers", "answer"?,
"text"?: of a page, "at_least"?: further keys are no difference}, "differs"?: {"status", "why"}}. The word TOKEN stands for
the session of the newest log-in. Prints each difference; exit code 1 when there are some.
"""
import io
import json
import re
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request

import yaml

# Cookies are set for those who have a session only.
NO_SESSION = ("Set-Cookie",)


def ask(url, case, token, jid):
    headers = {k: v.replace("TOKEN", token) for k, v in case["headers"].items()}
    body = case.get("body")
    if "large" in case:
        body = "[" + "0," * (case["large"] // 2) + "0]"
    path = re.sub(r"^/jobs/20261125\d+$", "/jobs/" + jid, case["path"])
    request = urllib.request.Request(url + path, data=body.encode() if body is not None else None,
                                     headers=headers, method=case["method"])
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    return answer.status, answer.headers, answer.read().decode()


def new_key(url):
    """An accepted minion that is silent: POST /keys makes its key, in an archive of two files."""
    form = {"mid": "new1", "eauth": "sharedsecret", "username": "admin", "password": "secret"}
    answer = urllib.request.urlopen(url + "/keys", urllib.parse.urlencode(form).encode(), timeout=60)
    with tarfile.open(fileobj=io.BytesIO(answer.read())) as archive:
        assert archive.getnames() == ["minion.pub", "minion.pem"], archive.getnames()
        assert b"PRIVATE KEY" in archive.extractfile("minion.pem").read()
    assert answer.headers["Content-Disposition"] == 'attachment; filename="saltkeys-new1.tar"'


def differences(want, have, at, at_least):
    """Keys and types that differ. A list's first element speaks for all."""
    if isinstance(want, dict) and isinstance(have, dict):
        for key in want:
            if key not in have:
                yield "%s: no %s" % (at, key)
            else:
                yield from differences(want[key], have[key], "%s.%s" % (at, key), at_least)
        if not at_least:
            for key in set(have) - set(want):
                yield "%s: has %s, too" % (at, key)
    elif isinstance(want, list) and isinstance(have, list):
        # Of lists of texts (the master's files, for one) the type alone counts.
        texts = all(isinstance(one, str) for one in want + have) and ".local" in at
        if len(want) != len(have) and not at_least and not texts:
            yield "%s: %d elements, not %d" % (at, len(have), len(want))
        for i, (a, b) in enumerate(zip(want, have)):
            yield from differences(a, b, "%s[%d]" % (at, i), at_least)
    elif type(want) is not type(have):
        yield "%s: %s, not %s" % (at, type(have).__name__, type(want).__name__)


def fits(want, have):
    return have is not None and (want == "*" or want.replace(" ", "") == have.replace(" ", ""))


def check(case, status, headers, text):
    salt = case["salt"]
    if "differs" in case:
        if status != case["differs"]["status"]:
            yield "status %d, not %d" % (status, case["differs"]["status"])
        return
    if status != salt["status"]:
        yield "status %d, not %d: %s" % (status, salt["status"], text[:200])
        return
    for name, want in salt["headers"].items():
        if name in NO_SESSION and headers.get(name) is None and status in (401, 400, 406, 405, 200):
            if "TOKEN" not in str(case["headers"]) and "X-Auth-Token" not in salt["headers"]:
                continue
            if status == 405 or case["name"] == "after logout":
                continue
        if not fits(want, headers.get(name)):
            yield "header %s: %s, not %s" % (name, headers.get(name), want)
    if "text" in salt:
        if "<p>%s</p>" % html(salt["text"]) not in text:
            yield "no text '%s' in %s" % (salt["text"], text[:300])
    elif "answer" in salt:
        load = yaml.safe_load if "yaml" in headers["Content-Type"] else json.loads
        yield from differences(salt["answer"], load(text), "answer", salt.get("at_least", False))


def html(text):
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;")):
        text = text.replace(char, entity)
    return text


def main():
    url, path, jid = sys.argv[1:4]
    cases = json.load(open(path))
    token, bad = "", 0
    for case in cases:
        if case["name"] == "POST /run":
            new_key(url)
        if case["name"] == "after logout":
            ask(url, {"headers": {"X-Auth-Token": token}, "method": "POST", "path": "/logout", "body": ""}, token, jid)
        status, headers, text = ask(url, case, token, jid)
        if headers.get("X-Auth-Token"):
            token = headers["X-Auth-Token"]
        for difference in check(case, status, headers, text):
            print("%s: %s" % (case["name"], difference))
            bad = 1
    print("%d requests replayed" % len(cases))
    return bad


if __name__ == "__main__":
    sys.exit(main())
