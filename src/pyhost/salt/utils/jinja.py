"""What files use of templates' helpers."""
from salt.utils.odict import OrderedDict


class PrintableDict(OrderedDict):
    """A mapping whose text is one of YAML's, too."""

    def __str__(self):
        return self._text(lambda value: repr(value) if isinstance(value, str) else str(value))

    def __repr__(self):
        return self._text(repr)

    def _text(self, shown):
        return "{" + ", ".join(f"{key!r}: {shown(value)}" for key, value in self.items()) + "}"
