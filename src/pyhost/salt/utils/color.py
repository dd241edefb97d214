"""Colours of terminals."""
import os

_CODES = {
    "BLACK": "0;30", "DARK_GRAY": "1;30", "RED": "0;31", "LIGHT_RED": "0;1;31", "GREEN": "0;32", "LIGHT_GREEN": "0;1;32", "YELLOW": "0;33",
    "LIGHT_YELLOW": "0;1;33", "BLUE": "0;34", "LIGHT_BLUE": "0;1;34", "MAGENTA": "0;35", "LIGHT_MAGENTA": "0;1;35", "CYAN": "0;36",
    "LIGHT_CYAN": "0;1;36", "LIGHT_GRAY": "0;37", "WHITE": "0;1;37", "DEFAULT_COLOR": "00", "ENDC": "0",
}


class _Color(str):
    """A code of a colour; each is a text."""


def get_color_theme(theme):
    """Return {name: colour} of a file of YAML, or {}."""
    from salt.utils import files, yaml

    if not os.path.isfile(theme):
        return {}
    with files.fopen(theme) as text:
        said = yaml.safe_load(text)
    return said if isinstance(said, dict) else {}


def get_colors(use=True, theme=None):
    """Return {name: code}; empty texts when no colours are used."""
    names = dict(_CODES)
    if isinstance(use, str):
        names.update((name, _CODES[use]) for name in names if use in _CODES and name != "ENDC")
    for name, color in (get_color_theme(theme) if theme else {}).items():
        if color in _CODES:
            names[name] = _CODES[color]
    return {name: _Color(f"\033[{code}m") if use else "" for name, code in names.items()}
