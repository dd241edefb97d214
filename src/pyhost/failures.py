# failures.py - how a call fails: traces of the user's own frames, Salt's kinds of errors. A part of loader.py's program.


def own_frames(exception):
    """The traceback without this program's own frames, whose files have no folder, and those of importing."""
    trace = exception.__traceback__
    while trace is not None and "/" not in trace.tb_frame.f_code.co_filename:
        trace = trace.tb_next
    return trace


def is_users(frame):
    """True for frames of the files of the minion's folders, and of what lies beside them."""
    folders = (folder + "/" for folders in world.given["dirs"].values() for folder in folders)
    return frame.filename.startswith(tuple(folders))


def cut(told, seen):
    """Leave the user's frames only, of what led to the exception too; where there are none of these, all stay."""
    while told is not None and id(told) not in seen:
        seen.add(id(told))
        own = [frame for frame in told.stack if is_users(frame)]
        if own:
            told.stack = traceback.StackSummary.from_list(own)
        cut(told.__cause__, seen)
        told = told.__context__


def trace_of(exception):
    told = traceback.TracebackException(type(exception), exception, own_frames(exception))
    cut(told, set())
    return text_of("".join(told.format()).rstrip("\n"))


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
