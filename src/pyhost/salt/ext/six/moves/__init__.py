"""Names that Python 2 had elsewhere; each is imported when it is asked for."""
import importlib

# {name: (module, attribute); without an attribute the module itself}
_PLACES = {
    "BaseHTTPServer": ("http.server", ""),
    "CGIHTTPServer": ("http.server", ""),
    "SimpleHTTPServer": ("http.server", ""),
    "StringIO": ("io", "StringIO"),
    "UserDict": ("collections", "UserDict"),
    "UserList": ("collections", "UserList"),
    "UserString": ("collections", "UserString"),
    "_thread": ("_thread", ""),
    "builtins": ("builtins", ""),
    "cPickle": ("pickle", ""),
    "cStringIO": ("io", "StringIO"),
    "collections_abc": ("collections.abc", ""),
    "configparser": ("configparser", ""),
    "copyreg": ("copyreg", ""),
    "email_mime_base": ("email.mime.base", ""),
    "email_mime_multipart": ("email.mime.multipart", ""),
    "email_mime_text": ("email.mime.text", ""),
    "filter": ("builtins", "filter"),
    "filterfalse": ("itertools", "filterfalse"),
    "getcwd": ("os", "getcwd"),
    "getcwdb": ("os", "getcwdb"),
    "html_entities": ("html.entities", ""),
    "html_parser": ("html.parser", ""),
    "http_client": ("http.client", ""),
    "http_cookiejar": ("http.cookiejar", ""),
    "http_cookies": ("http.cookies", ""),
    "input": ("builtins", "input"),
    "intern": ("sys", "intern"),
    "map": ("builtins", "map"),
    "queue": ("queue", ""),
    "range": ("builtins", "range"),
    "reduce": ("functools", "reduce"),
    "reload_module": ("importlib", "reload"),
    "reprlib": ("reprlib", ""),
    "shlex_quote": ("shlex", "quote"),
    "socketserver": ("socketserver", ""),
    "xmlrpc_client": ("xmlrpc.client", ""),
    "xmlrpc_server": ("xmlrpc.server", ""),
    "xrange": ("builtins", "range"),
    "zip": ("builtins", "zip"),
    "zip_longest": ("itertools", "zip_longest"),
}


def __getattr__(name):
    """Return a name from where Python 3 has it."""
    lazy = importlib.import_module("salt._lazy")
    if name in _PLACES:
        return lazy.member(*_PLACES[name])
    return lazy.submodule(__name__, name)
