"""The decorator memoize, without what the others import."""
import functools


def memoize(func):
    """Remember what a function returned for its arguments."""
    cache = {}

    @functools.wraps(func)
    def remembered(*args, **kwargs):
        key = repr(args) + repr(sorted(kwargs.items(), key=lambda kv: kv[0])) if args or kwargs else ""
        if key not in cache:
            cache[key] = func(*args, **kwargs)
        return cache[key]

    return remembered
