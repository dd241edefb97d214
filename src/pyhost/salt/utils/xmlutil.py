"""XML as dictionaries."""
import re
from xml.etree import ElementTree


def _name(tag):
    return re.sub(r"^\{[^}]*\}", "", tag)


def _add(found, name, value):
    """Put a value under a name; several of one name are a list."""
    if name not in found:
        found[name] = value
    elif isinstance(found[name], list):
        found[name].append(value)
    else:
        found[name] = [found[name], value]


def to_dict(xmltree, attr=False):
    """Return an element's content as a dictionary; with `attr` its attributes as well."""
    found = dict((_name(name), value) for name, value in xmltree.attrib.items()) if attr else {}
    if len(xmltree) == 0:
        if not found:
            return {_name(xmltree.tag): xmltree.text} if not attr else xmltree.text
        if xmltree.text and xmltree.text.strip():
            _add(found, _name(xmltree.tag), xmltree.text)
        return found
    for inner in xmltree:
        name = _name(inner.tag)
        if len(inner) or attr and inner.attrib:
            _add(found, name, to_dict(inner, attr))
        else:
            _add(found, name, inner.text)
    return found


def get_xml_node(node, xpath):
    """Return the element at a path, which is made where it is missing."""
    for part in xpath.split("/"):
        if part in ("", "."):
            continue
        below = node.find(part)
        node = ElementTree.SubElement(node, re.sub(r"\[.*\]$", "", part)) if below is None else below
    return node


def set_node_text(node, value):
    """Set an element's text."""
    node.text = str(value)


def strip_spaces(node):
    """Take away blank text around elements."""
    for one in node.iter():
        one.text = one.text.strip() or None if one.text else one.text
        one.tail = one.tail.strip() or None if one.tail else one.tail


def element_to_str(node):
    """Return an element as text."""
    return ElementTree.tostring(node).decode()
