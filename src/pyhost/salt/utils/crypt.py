"""Fingerprints of keys, and values that are encrypted."""
import hashlib

from salt import _host
from salt.utils import files, stringutils

HAS_CRYPTO = False


def reinit_crypto():
    """Do nothing: no library keeps a state over a fork."""


def pem_finger(path=None, key=None, sum_type="sha256"):
    """Return the fingerprint of a key, as pairs of digits parted by colons; an empty text for a file that is not there."""
    if not key:
        try:
            with files.fopen(path, "rb") as text:
                key = b"".join(line.strip() for line in text.readlines()[1:-1])
        except FileNotFoundError:
            return ""
    digits = getattr(hashlib, sum_type)(stringutils.to_bytes(key)).hexdigest()
    return ":".join(digits[i : i + 2] for i in range(0, len(digits), 2))


def decrypt(data, rend, translate_newlines=False, renderers=None, opts=None, valid_rend=None):
    """Return what a renderer such as gpg makes of a value."""
    from salt.exceptions import SaltInvocationError

    if valid_rend and rend not in valid_rend:
        raise SaltInvocationError(f"'{rend}' is not a valid decryption renderer. Valid choices are: {', '.join(valid_rend)}")
    renderers = renderers if renderers is not None else _host.functions("renderers", "salt.utils.crypt.decrypt")
    render = renderers.get(rend)
    if render is None:
        raise SaltInvocationError(f"Decryption renderer '{rend}' is not available")
    return render(data, translate_newlines=translate_newlines)
