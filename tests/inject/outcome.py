"""outcome.py - how a program ended that had a fault, and whether it may end so."""

import re

NO_MEMORY = 71

# Libraries that end the process themselves: what they say. Each is in src/common/base/README.md with its reason.
LIBRARY = re.compile(
    r"FATAL ERROR: OUT OF MEMORY|FATAL ERROR at[^\n]*\n?OUT OF MEMORY|std::bad_alloc|GNU MP: Cannot allocate"
    r"|(Cannot allocate memory|Too many open files|No space left on device|Resource temporarily unavailable|Input/output error"
    r"|Interrupted system call|No buffer space available|Broken pipe) \(src/\w+\.cpp:\d+\)|Assertion failed: .* \(src/\w+\.cpp:\d+\)"
    r"|thread .* could not be created|libgcc_s.so.1 must be installed|pgm_malloc|zsys|zsock|zframe|zmsg|zstr|czmq"
)


# The C library's own: without memory, its look-up of users and of the resolver's configuration ends the process or
# waits for ever (2.36; nss_database.c, resolv_conf.c).
C_LIBRARY = re.compile(r"nss_database|nss_module|nss_action|resolv_conf|res_init")


def judge(code, text, kind, page):
    """(short name, None) or (short name, what is wrong)."""
    # czmq does not look whether an actor's thread was there to be had.
    if kind in ("fork", "alloc") and (code is None or code < 0) and any(f.startswith(("libczmq", "zactor", "zthread", "zsock")) for f in page.where()[1][:6]):
        return "ended by a library", None
    # Its assertion names the file; of one that has no symbols (no libc6-dbg) the frames do not.
    if kind == "alloc" and (code is None or code < 0) and (C_LIBRARY.search(text) or any(C_LIBRARY.search(f) for f in page.where()[1][:6])):
        return "ended by a library", None
    if "broken invariant" in text:
        return "invariant", re.search(r"[^\n]*broken invariant[^\n]*", text).group(0)
    if re.search(r"Sanitizer|runtime error:", text):
        return "sanitizer", re.search(r"[^\n]*(Sanitizer|runtime error:)[^\n]*", text).group(0)
    if code is None:
        return "hang", "it does not end"
    if code == 0:
        return "carried on", None
    if code == NO_MEMORY:
        said = len(re.findall(r"\d+ bytes were refused", text))
        return "out of memory", None if said >= 1 else "exit code 71 without the message"
    if code < 0:
        if code == -6 and kind == "alloc" and "lex_scan_string: Assertion" in text:
            return "ended by a library", None  # jansson's, for what is not plain
        if code == -6 and LIBRARY.search(text):
            return "ended by a library", None
        return "crash", f"ended by signal {-code}: {text[-300:]}"
    if not text.strip() and kind != "write":
        return "error", f"exit code {code} without a word"
    return "error", None
