"""Digests and codings."""
import base64
import hashlib
import hmac
import random

from salt.utils import files, stringutils


def get_hash(path, form="sha256", chunk_size=65536):
    """Return the digest of a file as hexadecimal digits."""
    kind = getattr(hashlib, form, None) if hasattr(hashlib, form) else None
    if kind is None:
        raise ValueError(f"Invalid hash type: {form}")
    digest = kind()
    with files.fopen(path, "rb") as file:
        for chunk in iter(lambda: file.read(chunk_size), b""):
            digest.update(chunk)
    return digest.hexdigest()


class DigestCollector:
    """The digest of several files together."""

    def __init__(self, form="sha256", buff=0x10000):
        if not hasattr(hashlib, form):
            raise ValueError(f"Invalid hash type: {form}")
        self.__digest = getattr(hashlib, form)()
        self.__buff = buff

    def add(self, path):
        """Take in a file."""
        with files.fopen(path, "rb") as file:
            for chunk in iter(lambda: file.read(self.__buff), b""):
                self.__digest.update(chunk)

    def digest(self):
        """Return the digest as hexadecimal digits."""
        return stringutils.to_str(self.__digest.hexdigest())


def _digest(kind, instr):
    return hashlib.new(kind, stringutils.to_bytes(instr)).hexdigest()


def md5_digest(instr):
    """Return the MD5 of a text."""
    return _digest("md5", instr)


def sha1_digest(instr):
    """Return the SHA-1 of a text."""
    return _digest("sha1", instr)


def sha256_digest(instr):
    """Return the SHA-256 of a text."""
    return _digest("sha256", instr)


def sha512_digest(instr):
    """Return the SHA-512 of a text."""
    return _digest("sha512", instr)


def base64_b64encode(instr):
    """Return a text in base64, on one line."""
    return stringutils.to_str(base64.b64encode(stringutils.to_bytes(instr)))


def base64_b64decode(instr):
    """Return what base64 stands for, as text where it is UTF-8."""
    decoded = base64.b64decode(stringutils.to_bytes(instr))
    try:
        return decoded.decode("utf-8")
    except UnicodeDecodeError:
        return decoded


def base64_encodestring(instr):
    """Return a text in base64, in lines."""
    return stringutils.to_str(base64.encodebytes(stringutils.to_bytes(instr)))


def base64_decodestring(instr):
    """Return what lines of base64 stand for, as text where it is UTF-8."""
    decoded = base64.decodebytes(stringutils.to_bytes(instr))
    try:
        return decoded.decode("utf-8")
    except UnicodeDecodeError:
        return decoded


def hmac_compute(string, shared_secret):
    """Return the HMAC-SHA256 of a text as hexadecimal digits."""
    return hmac.new(stringutils.to_bytes(shared_secret), stringutils.to_bytes(string), hashlib.sha256).hexdigest()


def hmac_signature(string, shared_secret, challenge_hmac):
    """Say whether a text's HMAC-SHA256, in base64, is the one given."""
    code = hmac.new(stringutils.to_bytes(shared_secret), stringutils.to_bytes(string), hashlib.sha256).digest()
    return hmac.compare_digest(base64.b64encode(code), stringutils.to_bytes(challenge_hmac))


def random_hash(size=9999999999, hash_type=None):
    """Return the digest of a random number."""
    return hashlib.new(hash_type or "md5", str(random.SystemRandom().randint(0, size)).encode()).hexdigest()
