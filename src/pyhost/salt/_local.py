"""A line to the local socket of the master or of a minion: frames of a length and JSON."""
import collections
import collections.abc
import errno
import json
import os
import socket
import struct
import time

from salt.exceptions import (
    EauthAuthenticationError,
    PublishError,
    SaltClientError,
    SaltReqTimeoutError,
)

SOCKETS = {"master": "master.sock", "minion": "minion.sock"}
_HEAD = struct.Struct(">I")
_CONNECT_SECONDS = 10
_MOST = 64 * 1024 * 1024
# The master answers within a moment; a request that waits longer than so many of `timeout` was not taken.
PATIENCE = 3


class Line:
    """One connection. Requests are answered in order; what else comes meanwhile is kept for next()."""

    def __init__(self, sock_dir, node="master", timeout=None):
        self.path = os.path.join(sock_dir, SOCKETS[node])
        self.timeout = timeout
        self._n = 0
        self._in = bytearray()
        self._pushes = collections.deque()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(_CONNECT_SECONDS)
            self._socket.connect(self.path)
        except OSError as exc:
            self._socket.close()
            raise _unreachable(node, self.path, exc) from exc

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        """Close the connection."""
        self._socket.close()

    def _broken(self, exc=None):
        said = "the other side closed the connection" if exc is None else exc.strerror or str(exc)
        return SaltClientError(f"{self.path}: {said}")

    def send(self, op, **fields):
        """Send a request and return its number."""
        self._n += 1
        text = json.dumps(_plain(dict(fields, op=op, n=self._n))).encode()
        if len(text) > _MOST:
            raise SaltClientError(f"the request has {len(text)} bytes, the limit is {_MOST}")
        self._socket.settimeout(None)
        try:
            self._socket.sendall(_HEAD.pack(len(text)) + text)
        except OSError as exc:
            raise self._broken(exc) from exc
        return self._n

    def _whole(self):
        """Return the next message that is here in whole, or None."""
        if len(self._in) < _HEAD.size:
            return None
        end = _HEAD.size + _HEAD.unpack_from(self._in)[0]
        if len(self._in) < end:
            return None
        text = bytes(self._in[_HEAD.size : end])
        del self._in[:end]
        return json.loads(text)

    def _receive(self, until):
        """Return the next message, or None when `until`, a monotonic time or None, has passed."""
        while True:
            message = self._whole()
            if message is not None:
                return message
            left = None if until is None else until - time.monotonic()
            self._socket.settimeout(None if left is None else max(left, 1e-6))
            try:
                piece = self._socket.recv(65536)
            except socket.timeout:
                return None
            except OSError as exc:
                raise self._broken(exc) from exc
            if not piece:
                raise self._broken()
            self._in += piece

    def call(self, op, **fields):
        """Send a request and return its answer; a refusal is raised."""
        n = self.send(op, **fields)
        until = None if self.timeout is None else time.monotonic() + PATIENCE * self.timeout
        while True:
            message = self._receive(until)
            if message is None:
                raise SaltReqTimeoutError(
                    f"Salt request timed out. The master is not responding: nothing came from {self.path} in {PATIENCE * self.timeout} s."
                )
            if message.get("n") != n:
                self._pushes.append(message)
            elif message.get("ok"):
                return message
            else:
                raise refusal(message)

    def next(self, timeout=None):
        """Return the next push, or None after `timeout` seconds; None waits for ever, 0 not at all."""
        if self._pushes:
            return self._pushes.popleft()
        return self._receive(None if timeout is None else time.monotonic() + timeout)


def refusal(message):
    """Return the exception for an answer that refuses a request."""
    text = message.get("error", "the request was refused")
    return (EauthAuthenticationError if message.get("code") == -errno.EACCES else PublishError)(text)


def _unreachable(node, path, exc):
    if exc.errno == errno.EACCES:
        return EauthAuthenticationError(
            f"{path}: permission denied; run as root, as the {node}'s user, or as one that publisher_acl names"
        )
    said = exc.strerror or str(exc)
    return SaltClientError(
        f"The salt {node} could not be contacted at {path} ({said}). Is salt-{node} running, with this configuration?"
    )


def _plain(value):
    """Return data as JSON has it: texts for bytes and for integers of more than 64 bits, lists for sets."""
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else str(int(value))
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, (bytes, bytearray)):
        return value.decode("utf-8", "replace")
    if isinstance(value, collections.abc.Mapping):
        return {key if isinstance(key, str) else str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, collections.abc.Iterable):
        return [_plain(inner) for inner in value]
    return str(value)


def connect(opts, node="master"):
    """Return a line to the daemon whose options these are."""
    return Line(opts["sock_dir"], node, opts.get("timeout"))
