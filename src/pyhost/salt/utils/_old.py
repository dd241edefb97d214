"""Helpers that only older files know."""


def option(value, default="", opts=None, pillar=None):
    """Return a setting of the options or the pillar."""
    from salt.utils import data

    for place in opts or {}, (pillar or {}).get("master", {}), pillar or {}:
        if value in place:
            return place[value]
        found = data.traverse_dict_and_list(place, value, None)
        if found is not None:
            return found
    return default


def trim_dict(data, max_dict_bytes, percent=50.0, stepper_size=10, replace_with="VALUE_TRIMMED", is_msgpacked=False, use_bin_type=False):
    """Return data with its longest values replaced until it has at most so many bytes."""
    import json

    def size(value):
        return len(json.dumps(value, default=str))

    ret = dict(data)
    for key in sorted(ret, key=lambda name: -size(ret[name])):
        if size(ret) <= max_dict_bytes:
            break
        ret[key] = replace_with
    return ret
