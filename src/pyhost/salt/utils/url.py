"""Addresses of files, such as salt://top.sls?saltenv=dev."""
import re
import urllib.parse
from urllib.parse import urlparse  # noqa: F401 - files take it from here

from salt.utils import platform


def parse(url):
    """Return (path, environment) of an address; an environment that it does not name is None."""
    if not url.startswith("salt://"):
        return url, None
    whole = url[len("salt://") :]
    path, _, asked = whole.rpartition("?")
    word, _, saltenv = asked.partition("=")
    if not path or word not in ("saltenv", "env"):
        return whole, None
    return path, saltenv if word == "saltenv" else None


def create(path, saltenv=None):
    """Return the address of a path."""
    path = path[1:] if path.startswith("/") else path
    return f"salt://{path}?saltenv={saltenv}" if saltenv else f"salt://{path}"


def is_escaped(url):
    """Say whether a path or an address begins with |, after which signs of addresses mean themselves."""
    if platform.is_windows():
        return False
    return url[len("salt://") :].startswith("|") if url.startswith("salt://") else url.startswith("|")


def escape(url):
    """Return a path or an address with | at its beginning."""
    if platform.is_windows() or is_escaped(url):
        return url
    if url.startswith("salt://"):
        path, saltenv = parse(url)
        return create(f"|{path}", saltenv)
    return f"|{url}"


def unescape(url):
    """Return a path or an address without | at its beginning."""
    if not url or not is_escaped(url):
        return url
    if url.startswith("salt://"):
        path, saltenv = parse(url)
        return create(path.lstrip("|"), saltenv)
    return url.lstrip("|")


def add_env(url, saltenv):
    """Return an address with an environment."""
    if not url.startswith("salt://"):
        return url
    return create(parse(url)[0], saltenv)


def split_env(url):
    """Return (address without its environment, environment)."""
    if not url.startswith("salt://"):
        return url, None
    path, saltenv = parse(url)
    return create(path), saltenv


def validate(url, protos):
    """Say whether an address has one of these schemes."""
    return urllib.parse.urlparse(url).scheme in protos


def strip_proto(url):
    """Return an address without its scheme."""
    return re.sub("^[^:/]+://", "", url)


def add_http_basic_auth(url, user=None, password=None, https_only=False):
    """Return an address with a user and a password."""
    if user is None and password is None:
        return url
    parts = urllib.parse.urlparse(url)
    if https_only and parts.scheme != "https":
        raise ValueError("Basic Auth only supported for HTTPS")
    if password is None:
        return parts._replace(netloc=f"{user}@{parts.netloc}").geturl()
    if user is None:
        raise ValueError("Basic Auth: a password needs a user")
    return parts._replace(netloc=f"{user}:{password}@{parts.netloc}").geturl()


def redact_http_basic_auth(output):
    """Return a text with <redacted> for users and passwords in addresses."""
    return re.sub(r"((?:https?)\:\/\/)(?:[^\/@]+)?(\@)", r"\1<redacted>\2", output)
