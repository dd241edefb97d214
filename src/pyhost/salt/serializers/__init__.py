"""Exceptions of what makes text of data, and data of text."""
from salt.exceptions import SaltException, SaltRenderError


class DeserializationError(SaltRenderError, RuntimeError):
    """A text can't be read."""


class SerializationError(SaltException, RuntimeError):
    """Data can't be written."""
