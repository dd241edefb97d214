"""Arguments at random: a row's own generators, what the recorded cases of the function pass, and values that nobody means."""
import glob
import json
import os

NASTY = ["", " ", "a b", "it's", 'say "no"', "zwölf €", "two\nlines", "tab\there", "-x", "--help", "x" * 300, "$HOME", "`id`", "a;b", "a=b", "a:b",
         "#x",
         "[x]", "%s", "\\", "*", "None", "0", "no", None, 0, 1, -1, 2**40, 1.5, True, False, [], ["a", "b"], [None], [1, "x"], {}, {"k": "v"},
         {"a": {"b": [1]}}, [{"a": 1}, {"b": 2}]]
OWN = ("require", "watch", "onchanges", "unless", "onlyif", "sfun", "id", "order", "fun", "state")


def value(rng, generator):
    """A list is a choice, a function is called, anything else is itself."""
    if isinstance(generator, list):
        return rng.choice(generator)
    return generator(rng) if callable(generator) else generator


def some(*values, most=3, least=0):
    """A generator of lists of these, none twice."""
    return lambda rng: rng.sample(values, rng.randint(least, min(most, len(values))))


def pairs(keys, values, most=3, least=0):
    """A generator of dictionaries."""
    return lambda rng: {key: value(rng, values) for key in rng.sample(keys, rng.randint(least, min(most, len(keys))))}


class Dictionary:
    """Values that the recorded cases of a function pass, by argument: those that name no folder of a case."""

    def __init__(self, folder):
        self.values = {}
        for path in glob.glob(f"{folder}/*.json"):
            self.read(path)

    def read(self, path):
        with open(path, encoding="utf-8") as f:
            cases = json.load(f)
        of = self.values.setdefault(os.path.basename(path)[:-5], {})
        for case in cases:
            for arg, seen in (case.get("args") or {}).items():
                if "{T}" not in json.dumps(seen) and seen not in of.setdefault(arg, []):
                    of[arg].append(seen)


def arguments(rng, row, known, names):
    """What one call gets: ({argument: value}, whether one of them is nasty)."""
    args = {arg: value(rng, generator) for arg, generator in row.must.items()}
    for arg in dict.fromkeys([*names, *row.may]):
        if arg in args or arg in row.never or arg in OWN:
            continue
        if arg in row.may:
            if rng.random() < 0.4:
                args[arg] = value(rng, row.may[arg])
        elif known.get(arg) and rng.random() < 0.2:
            args[arg] = rng.choice(known[arg])
    if rng.random() >= row.nasty:
        return args, False
    arg = rng.choice([n for n in names if n not in row.never and n not in OWN and n not in row.tame] or ["name"])
    args[arg] = rng.choice(NASTY)
    return args, True
