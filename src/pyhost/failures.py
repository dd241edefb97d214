# failures.py - how a call fails: traces of the user's own frames, Salt's kinds of errors. A part of loader.py's program.


def own_frames(exception):
    """The traceback without this program's own frames, whose files have no folder, and those of importing."""
    trace = exception.__traceback__
    while trace is not None and "/" not in trace.tb_frame.f_code.co_filename:
        trace = trace.tb_next
    return trace


def trace_of(exception):
    lines = traceback.format_exception(type(exception), exception, own_frames(exception))
    return text_of("".join(lines).rstrip("\n"))


def whole_trace(exception):
    return text_of("".join(traceback.format_exception(type(exception), exception, exception.__traceback__)))


def where_failed(exception):
    """One line: what, and the line of the file where it happened."""
    if isinstance(exception, SyntaxError):
        return text_of(f"line {exception.lineno}: {type(exception).__name__}: {exception.msg}")
    frames = traceback.extract_tb(own_frames(exception))
    own = [f for f in frames if not f.filename.startswith(("<frozen", os.path.join(*sys.argv[1:2], "salt", "")))]
    place = f"line {own[0].lineno}: " if own else ""
    return text_of(f"{place}{type(exception).__name__}: {exception}")


FAILURES = {
    "CommandNotFoundError": "program",
    "CommandExecutionError": "command",
    "SaltInvocationError": "invocation",
    "TypeError": "arguments",
}


def failure_of(exception, kind):
    found = [FAILURES[c.__name__] for c in type(exception).__mro__ if c.__name__ in FAILURES]
    trace = trace_of(exception)
    if not found or kind == "states":
        return {"kind": "generic", "text": trace, "class": type(exception).__name__}
    return {"kind": found[0], "text": text_of(str(exception)), "class": type(exception).__name__}
