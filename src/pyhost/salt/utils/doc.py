"""Documentation of functions."""
import re


def strip_rst(docs):
    """Return {function: text} without marks of reStructuredText."""
    for name, text in docs.items():
        if not text:
            docs[name] = "" if text is None else text
            continue
        text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        text = re.sub(r" *.. code-block:: \S+\n{1,2}", "", text)
        text = re.sub(".. note::", "Note:", text)
        text = re.sub(".. warning::", "Warning:", text)
        text = re.sub(".. versionadded::", "New in version", text)
        text = re.sub(".. versionchanged::", "Changed in version", text)
        docs[name] = text
    return docs


def parse_docstring(docstring):
    """Return {"full": text, "deps": [name]} of a text that lists what it needs under ":depends:"."""
    ret = {"full": docstring}
    found = re.search(r"([ \t]*):depends:[ \t]+- (\w+)[^\n]*\n((?:\1[ \t]+- \w+[^\n]*\n)*)", docstring or "")
    if found:
        ret["deps"] = [found.group(2)] + re.findall(r"- (\w+)", found.group(3))
        return ret
    lines = re.findall(r"^[ \t]*:depends:[ \t]+(.*)$", docstring or "", re.MULTILINE)
    ret["deps"] = [name.strip() for line in lines for name in line.split(",")]
    return ret
