"""Passwords, and their hashes as /etc/shadow has them."""
import random
import re
import string

from salt.exceptions import CommandExecutionError, SaltInvocationError

methods = {"sha512": "6", "sha256": "5", "blowfish": "2b", "md5": "1", "crypt": ""}
known_methods = list(methods)


def secure_password(length=20, use_random=True, chars=None, lowercase=True, uppercase=True, digits=True, punctuation=True,
                    whitespace=False, printable=False):
    """Return a random password of characters of these kinds."""
    if not chars:
        kinds = ((lowercase, string.ascii_lowercase), (uppercase, string.ascii_uppercase), (digits, string.digits),
                 (punctuation, string.punctuation), (whitespace, string.whitespace), (printable, string.printable))
        chars = "".join(text for wanted, text in kinds if wanted)
    chars = "".join(dict.fromkeys(chars))
    if not chars:
        raise SaltInvocationError("no kind of characters is left for a password")
    source = random.SystemRandom()
    return "".join(source.choice(chars) for _ in range(int(length)))


def gen_hash(crypt_salt=None, password=None, algorithm=None):
    """Return the hash of a password, by the system's crypt(3)."""
    algorithm = algorithm or "sha512"
    if algorithm not in methods:
        raise SaltInvocationError(f"Algorithm '{algorithm}' is not natively supported by this platform; known are {', '.join(methods)}")
    password = secure_password() if password is None else password
    kind = methods[algorithm]
    if crypt_salt is None:
        crypt_salt = secure_password(2 if not kind else 22 if kind == "2b" else 8, chars=string.ascii_letters + string.digits)
    if "$" in crypt_salt:
        setting = crypt_salt
    elif kind == "2b":
        setting = f"$2b$12${crypt_salt}"
    else:
        setting = f"${kind}${crypt_salt}" if kind else crypt_salt
    return _crypt(password, setting)


def _crypt(password, setting):
    """Return crypt(3) of a password."""
    import ctypes
    import ctypes.util

    name = ctypes.util.find_library("crypt") or "libcrypt.so.1"
    try:
        function = ctypes.CDLL(name).crypt
    except (OSError, AttributeError):
        raise CommandExecutionError("the library libcrypt is missing, which makes hashes of passwords") from None
    function.restype = ctypes.c_char_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    found = function(password.encode(), setting.encode())
    if found is None or re.match(rb"\*[01]", found):
        raise CommandExecutionError("the system's crypt(3) does not take this salt")
    return found.decode()
