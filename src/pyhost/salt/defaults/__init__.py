"""Values that stand for themselves, and the delimiter of targets."""

DEFAULT_TARGET_DELIM = ":"


class _Constant:
    """A value that equals itself alone; copies of it are the same object."""

    _known = {}

    def __new__(cls, name, value=None):
        key = (name, value)
        if key not in cls._known:
            cls._known[key] = super().__new__(cls)
        return cls._known[key]

    def __init__(self, name, value=None):
        self.name, self.value = name, value

    def __repr__(self):
        return f"<Constant.{self.name}>" if self.value is None else f"<Constant.{self.name} value={self.value}>"

    def __eq__(self, other):
        return isinstance(other, _Constant) and (self.name, self.value) == (other.name, other.value)

    def __hash__(self):
        return hash((self.name, self.value))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _Constant, (self.name, self.value)


NOT_SET = _Constant("NOT_SET")
