"""Names of locales."""
import locale
import sys

from salt.utils import stringutils


def get_encodings():
    """Return encodings to try, the system's first."""
    names = [sys.getdefaultencoding(), locale.getpreferredencoding(False), "utf-8", "latin-1"]
    return list(dict.fromkeys(name.lower() for name in names if name))


def split_locale(loc):
    """Return the parts of a name such as de_DE.UTF-8@euro."""
    base, _, charmap = loc.partition(" ")
    base, _, modifier = base.partition("@")
    base, _, codeset = base.partition(".")
    language, _, territory = base.partition("_")
    return {"language": language, "territory": territory, "codeset": codeset, "modifier": modifier, "charmap": charmap}


def join_locale(comps):
    """Return the name that these parts make."""
    name = comps["language"]
    for sign, part in ("_", "territory"), (".", "codeset"), ("@", "modifier"), (" ", "charmap"):
        if comps.get(part):
            name += sign + comps[part]
    return name


def normalize_locale(loc):
    """Return a name as systems write it."""
    comps = split_locale(loc)
    comps["territory"] = comps["territory"].upper()
    comps["codeset"] = comps["codeset"].lower().replace("-", "")
    comps["charmap"] = ""
    return join_locale(comps)


def getdefaultlocale(envvars=("LC_ALL", "LC_CTYPE", "LANG", "LANGUAGE")):
    """Return (language, encoding) of the environment."""
    return locale.getlocale()


def sdecode(string_):
    """Return bytes as text, by the first encoding that fits; an older name."""
    return string_ if isinstance(string_, str) else stringutils.to_unicode(string_, get_encodings())


def sdecode_if_string(value_):
    """Return bytes as text and leave all else; an older name."""
    return sdecode(value_) if isinstance(value_, bytes) else value_
