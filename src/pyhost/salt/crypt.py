"""Keys and signatures, by the program openssl."""
import os
import pwd
import subprocess
import tempfile

from salt.exceptions import CommandExecutionError
from salt.utils import files, path, stringutils


def _openssl(*words, data=None):
    program = path.which("openssl")
    if program is None:
        raise CommandExecutionError("the program openssl is missing: install the package openssl")
    done = subprocess.run([program, *words], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip()


def gen_keys(keydir, keyname, keysize, user=None, passphrase=None):
    """Make an RSA key, KEYNAME.pem and KEYNAME.pub in a folder, and return the first one's path."""
    base = os.path.join(keydir, keyname)
    private, public = f"{base}.pem", f"{base}.pub"
    secret = ["-aes256", "-passout", "stdin"] if passphrase else []
    with files.set_umask(0o277):
        code, _, said = _openssl("genrsa", *secret, "-out", private, str(max(int(keysize), 2048)),
                                 data=stringutils.to_bytes(passphrase) if passphrase else None)
    if code != 0:
        raise CommandExecutionError(f"{private} can't be made: {said}")
    more = ["-passin", "stdin"] if passphrase else []
    code, out, said = _openssl("rsa", "-in", private, *more, "-pubout", data=stringutils.to_bytes(passphrase) if passphrase else None)
    if code != 0:
        raise CommandExecutionError(f"{public} can't be made: {said}")
    with files.fopen(public, "wb") as file:
        file.write(out)
    os.chmod(private, 0o400)
    if user:
        record = pwd.getpwnam(user)
        for name in private, public:
            os.chown(name, record.pw_uid, -1)
    return private


def sign_message(privkey_path, message, passphrase=None):
    """Return the signature of a text by an RSA key, with SHA-1 as Salt does."""
    with tempfile.NamedTemporaryFile(prefix=files.TEMPFILE_PREFIX) as text:
        text.write(stringutils.to_bytes(message))
        text.flush()
        more = ["-passin", "stdin"] if passphrase else []
        code, out, said = _openssl("dgst", "-sha1", *more, "-sign", privkey_path, text.name,
                                   data=stringutils.to_bytes(passphrase) if passphrase else None)
    if code != 0:
        raise CommandExecutionError(f"{privkey_path} can't sign: {said}")
    return out


def verify_signature(pubkey_path, message, signature):
    """Say whether a signature of a text is by the key that belongs to a public one."""
    with tempfile.NamedTemporaryFile(prefix=files.TEMPFILE_PREFIX) as sign:
        sign.write(signature)
        sign.flush()
        code, _, _ = _openssl("dgst", "-sha1", "-verify", pubkey_path, "-signature", sign.name, data=stringutils.to_bytes(message))
    return code == 0
