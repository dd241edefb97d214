#!/usr/bin/env python3
"""vaultserver.py PORT LOG - plays a HashiCorp Vault server: as much of its API as tests need.

A store of version 2 is at secret/, one of version 1 at kv/. The token "root" may do everything, others what their policies say: a
policy NAME lets one read below secret/NAME/ and kv/NAME/. Tokens have a number of uses. Each request is a line of LOG, as JSON.
Source: https://developer.hashicorp.com/vault/api-docs"""

import http.server
import json
import sys
import threading
import urllib.parse

MOUNTS = {
    "secret/": {"path": "secret/", "type": "kv", "options": {"version": "2"}},
    "kv/": {"path": "kv/", "type": "kv", "options": None},
}
ROLES = {("role-1", "secret-1"): ["root"]}
state = {
    "secrets": {},  # "secret/a": [versions]; "kv/a": data
    "tokens": {"root": {"policies": ["root"], "uses": 0}},
    "wrapped": {"wrapped-1": ["root"]},
    "rules": {},
    "keys": set(),
    "made": 0,
}
lock = threading.Lock()


def make_token(policies, uses):
    state["made"] += 1
    token = f"hvs.{state['made']}"
    state["tokens"][token] = {"policies": policies, "uses": uses}
    return {"auth": {"client_token": token, "lease_duration": 3600, "renewable": True, "policies": policies}}


def split(path):
    """The store of a path, the path in it, and the part of version 2."""
    for name, mount in MOUNTS.items():
        if path.startswith(name):
            rest = path[len(name):]
            if mount["options"] is None:
                return name, rest, None
            part, _, rest = rest.partition("/")
            return name, rest, part
    return None, path, None


def store(method, path, body):
    name, rest, part = split(path)
    key = f"{name}{rest}"
    if name is None:
        return 404, {"errors": []}
    if method == "LIST":
        inside = sorted({k[len(key.rstrip("/")) + 1:] for k in state["secrets"] if k.startswith(key.rstrip("/") + "/")})
        return (200, {"data": {"keys": inside}}) if inside else (404, {"errors": []})
    if method == "GET":
        if key not in state["secrets"]:
            return 404, {"errors": []}
        found = state["secrets"][key]
        if part is None:
            return 200, {"data": found}
        return 200, {"data": {"data": found[-1], "metadata": {"version": len(found)}}}
    if method == "DELETE":
        state["secrets"].pop(key, None)
        return 204, None
    if part is None:
        state["secrets"][key] = body
        return 204, None
    if part == "destroy":
        return 204, None
    state["secrets"].setdefault(key, []).append(body["data"])
    return 200, {"data": {"version": len(state["secrets"][key])}}


def answer(method, path, token, body):
    if path == "auth/approle/login":
        policies = ROLES.get((body.get("role_id"), body.get("secret_id")))
        return (200, make_token(policies, 0)) if policies else (400, {"errors": ["invalid role or secret ID"]})
    if path == "sys/wrapping/unwrap":
        policies = state["wrapped"].pop(token, None)
        return (200, make_token(policies, 0)) if policies else (400, {"errors": ["wrapping token is not valid"]})
    if path.startswith("sys/internal/ui/mounts/"):
        found = next((m for name, m in MOUNTS.items() if path[len("sys/internal/ui/mounts/"):].startswith(name)), None)
        return (200, {"data": found}) if found else (403, {"errors": ["preflight capability check returned 403"]})
    if path == "sys/unseal":
        state["keys"].add(body["key"])
        return 200, {"sealed": len(state["keys"]) < 2}
    who = state["tokens"].get(token)
    if who is None:
        return 403, {"errors": ["permission denied"]}
    if who["uses"]:
        who["uses"] -= 1
        if not who["uses"]:
            del state["tokens"][token]
    root = "root" in who["policies"]
    if path.startswith("auth/token/create") and root:
        return 200, make_token(body["policies"], body["num_uses"])
    if path == "auth/token/lookup-self":
        return 200, {"data": {}}
    if path.startswith("sys/policy/") and root:
        name = path[len("sys/policy/"):]
        if method == "PUT":
            state["rules"][name] = body["rules"]
            return 204, None
        return (200, {"rules": state["rules"][name]}) if name in state["rules"] else (404, {"errors": []})
    _, rest, _ = split(path)
    if root or (method in ("GET", "LIST") and any(rest.startswith(p + "/") for p in who["policies"])):
        return store(method, path, body)
    return 403, {"errors": ["permission denied"]}


class Vault(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one(self):
        length = int(self.headers.get("Content-Length") or 0)
        text = self.rfile.read(length) if length else b""
        body = json.loads(text) if text else None
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        token = self.headers.get("X-Vault-Token")
        with lock:
            code, said = answer(self.command, path[len("/v1/"):], token, body) if path.startswith("/v1/") else (404, {"errors": []})
            with open(sys.argv[2], "a", encoding="utf-8") as log:
                print(json.dumps({"method": self.command, "path": path, "token": token, "body": body, "code": code,
                                  "namespace": self.headers.get("X-Vault-Namespace")}), file=log)
        out = json.dumps(said).encode() if said is not None else b""
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    do_GET = do_POST = do_PUT = do_DELETE = do_LIST = handle_one

    def log_message(self, *args):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Vault).serve_forever()
