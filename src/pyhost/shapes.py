# shapes.py - parameters and documentation of functions, as Python's inspect tells them: importing that takes longer than a small
# job's other imports, so that it is only asked about what is no plain function. A part of loader.py's program.

POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = range(5)  # the numbers of inspect
PLAIN = (POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD)
HAS_STAR, HAS_STARSTAR = 0x04, 0x08  # of co_flags
# Attributes by which a function says that its parameters are other ones.
DECORATED = frozenset(("__wrapped__", "__signature__", "_partialmethod", "__partialmethod__"))


class Parameter:
    empty = type("empty", (), {})

    def __init__(self, name, kind, default=empty):
        self.name, self.kind, self.default = name, kind, default


def parameters_of(function):
    """The parameters in their order; TypeError or ValueError where they can't be known."""
    if isinstance(function, types.FunctionType) and DECORATED.isdisjoint(vars(function)):
        return list(parameters_of_code(function))
    import inspect

    return [Parameter(p.name, int(p.kind), Parameter.empty if p.default is p.empty else p.default)
            for p in inspect.signature(function).parameters.values()]


def parameters_of_code(function):
    code = function.__code__
    names, count, only = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    defaults, named = function.__defaults__ or (), function.__kwdefaults__ or {}
    rest = iter(names[count + only:])
    for i, name in enumerate(names[:count]):
        kind = POSITIONAL_ONLY if i < code.co_posonlyargcount else POSITIONAL_OR_KEYWORD
        at = i - count + len(defaults)
        yield Parameter(name, kind, defaults[at] if at >= 0 else Parameter.empty)
    if code.co_flags & HAS_STAR:
        yield Parameter(next(rest), VAR_POSITIONAL)
    for name in names[count:count + only]:
        yield Parameter(name, KEYWORD_ONLY, named.get(name, Parameter.empty))
    if code.co_flags & HAS_STARSTAR:
        yield Parameter(next(rest), VAR_KEYWORD)


def doc_of(thing):
    """The documentation of a function or a module without the indentation of its lines; "": there is none."""
    doc = thing.__doc__
    if not isinstance(doc, str):
        return ""
    first, *lines = doc.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    lines = [first.lstrip(), *(line[margin:] for line in lines)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)
