# boot.py - what an interpreter runs by -c: it reads host.py from descriptor 3, and runs that. Its arguments are the folder of
# the package `salt`, or "", and the folder of the cache. Compiling host.py and loader.py takes as long as all else of a
# start, so their bytecode is kept in the cache for as long as the text stays the same.
import _imp
import json
import marshal
import os
import sys

lines = open(3, "rb")


def program(text, name):
    """The code of a part of this program."""
    if not sys.argv[2]:
        return compile(text, name, "exec", dont_inherit=True)
    stamp = _imp.source_hash(0, text.encode())
    kept = os.path.join(sys.argv[2], "python", f"{name}.{sys.implementation.cache_tag}")
    part = f"{kept}.{os.getpid()}"
    try:
        with open(kept, "rb") as file:
            if file.read(8) == stamp:
                return marshal.load(file)
    except (OSError, ValueError, EOFError, TypeError):
        pass
    code = compile(text, name, "exec", dont_inherit=True)
    try:
        os.makedirs(os.path.dirname(kept), mode=0o700, exist_ok=True)
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(stamp + marshal.dumps(code))
            os.replace(part, kept)
        except OSError:  # each start would leave one on a full disk
            os.unlink(part)
    except OSError:
        pass
    return code


exec(program(json.loads(lines.readline()), "host.py"))
