"""States of files that are the machine's configuration."""
from draw import pairs, some
from rows import Row, When, World

INI = ["/etc/app.ini", "/etc/other.ini", "/etc/missing.ini"]
SECTIONS, OPTIONS, VALUES = ["main", "Main", "a b", "x"], ["key", "Key", "other.key", "k 2"], ["1", 1, "two words", "", "a=b", "#c", True, None, 1.5]
HOSTS = ["web", "web.example.org", "db", "localhost", "ip6-localhost", "zz"]
IPS = ["10.0.0.1", "10.0.0.2", "127.0.0.1", "::1", "fe80::1", "10.0.0.300"]
GRAINS = ["role", "roles", "a:b", "a:c:d", "a", "plain", "none"]
LAYOUT = "Salt writes the file in a layout of its own, and makes it"


def options(rng):
    """Options of sections, and some above all of them."""
    of = pairs(OPTIONS, VALUES)
    return {**{s: of(rng) for s in rng.sample(SECTIONS, rng.randint(0, 2))}, **(pairs(OPTIONS, VALUES, most=1)(rng) if rng.random() < 0.2 else {})}


def names(rng):
    return {s: some(*OPTIONS)(rng) for s in rng.sample(SECTIONS, rng.randint(0, 2))}


WORLDS = {
    "ini": World(
        setup=r"""printf 'top = 1\n[main]\nkey = 1\nother.key=2 ; x\n# c\n\n[a b]\nk 2 = two words\n' >/etc/app.ini; printf '[x]\nkey: 1\n' >/etc/other.ini""",
        rows={
            "ini.options_present": Row({"name": INI, "sections": options}, {"separator": ["=", ":"], "strict": [True, False]}, silent=LAYOUT,
                                       weight=3),
            "ini.options_absent": Row({"name": INI, "sections": names}, {"separator": ["=", ":"]}, silent=LAYOUT),
            "ini.sections_present": Row({"name": INI, "sections": some(*SECTIONS)}, {"separator": ["="]}, silent=LAYOUT),
            "ini.sections_absent": Row({"name": INI, "sections": some(*SECTIONS)}, {"separator": ["="]}, silent=LAYOUT),
        }),
    "hosts": World(
        setup=r"""printf '127.0.0.1\tlocalhost\n::1 ip6-localhost ip6-loopback\n# c\n10.0.0.1 web web.example.org # the web\n10.0.0.2\tdb\n' >/etc/hosts""",
        rows={
            "host.present": Row({"name": HOSTS, "ip": lambda r: r.choice(IPS) if r.random() < 0.7 else some(*IPS)(r)},
                                {"clean": [True, False], "comment": ["", "the web", "zwölf"]}, weight=3),
            "host.absent": Row({"name": HOSTS, "ip": lambda r: r.choice(IPS) if r.random() < 0.7 else some(*IPS)(r)}),
            "host.only": Row({"name": IPS, "hostnames": lambda r: r.choice(HOSTS) if r.random() < 0.4 else some(*HOSTS)(r)}),
        }),
    "grains": World(
        setup=r"""printf 'role: web\nroles: [a, b]\na: {b: 1, c: {d: [x]}}\nplain: 5\nnone: null\n' >/etc/salt/grains""",
        rows={
            "grains.present": Row({"name": GRAINS, "value": ["web", 1, "", None, ["a"], {"k": "v"}, True]},
                                  {"force": [True, False], "delimiter": [":", "/"]}),
            "grains.absent": Row({"name": GRAINS}, {"force": [True, False], "destructive": [True, False], "delimiter": [":", "/"]}),
            "grains.append": Row({"name": GRAINS, "value": ["a", "c", 1, ["a", "d"]]}, {"convert": [True, False], "delimiter": [":", "/"]},
                                 again=When("Salt never finds a list in a list", lambda t: isinstance(t.args["value"], list))),
            "grains.list_present": Row({"name": GRAINS, "value": ["a", "c", ["a", "d"], {"k": 1}]}, {"delimiter": [":", "/"]}),
            "grains.list_absent": Row({"name": GRAINS, "value": ["a", "c", ["a", "d"], {"k": 1}]}, {"delimiter": [":", "/"]}),
            "grains.exists": Row({"name": GRAINS}, {"delimiter": [":", "/"]}),
        }),
    "aliases": World(
        setup=r"""printf '# c\npostmaster: root\nroot: hugo, eva\nlist: "|/bin/x y"\n' >/etc/aliases""", ignored=("etc/aliases.db",),
        rows={
            "alias.present": Row({"name": ["root", "postmaster", "list", "new", "Root"],
                                  "target": ["root", "hugo", "hugo, eva", '"|/bin/x y"', "a@b.org"]}),
            "alias.absent": Row({"name": ["root", "postmaster", "list", "new", "Root"]}),
        }),
}
