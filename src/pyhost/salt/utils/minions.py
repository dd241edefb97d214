"""Which minions a target matches."""
import fnmatch
import re

from salt import _local
from salt.client import _request
from salt.defaults import DEFAULT_TARGET_DELIM


def parse_target(target_expression):
    """Return {"engine", "delimiter", "pattern"} of a term of a compound target."""
    found = re.match(r"(?:([GPIJLNSERC])(.)?@)?(.+)$", target_expression)
    if found is None:
        return {}
    return {"engine": found.group(1), "delimiter": found.group(2), "pattern": found.group(3)}


def nodegroup_comp(nodegroup, nodegroups, skip=None, first_call=True):
    """Return a node group as words of a compound target, those inside of it resolved."""
    skip = set(skip or ()) | {nodegroup}
    said = nodegroups.get(nodegroup, "")
    words = said.split() if isinstance(said, str) else [str(word) for word in said]
    out = []
    for word in words:
        if word.startswith("N@"):
            name = word[2:].rstrip(")")
            inner = nodegroup_comp(name, nodegroups, skip, False) if name not in skip and name in nodegroups else []
            out += (["("] + inner + [")"]) if inner else []
        else:
            out.append(word)
    return out


def get_minion_data(minion, opts):
    """Return (id, grains, pillar) of a minion, as the master keeps them."""
    with _local.connect(opts) as line:
        grains = line.call("grains", tgt=[minion] if minion else "*", tgt_type="list" if minion else "glob")["grains"]
    for id_, one in grains.items():
        return id_, one, None
    return minion or None, None, None


class CkMinions:
    """Asks the master which minions a target matches."""

    def __init__(self, opts):
        self.opts = opts

    def check_minions(self, expr, tgt_type="glob", delimiter=DEFAULT_TARGET_DELIM, greedy=True):
        """Return {"minions": [id], "missing": [id]}."""
        with _local.connect(self.opts) as line:
            reply = line.call("match", **_request.target(expr, tgt_type, {"delimiter": delimiter}))
        return {"minions": reply["minions"], "missing": reply.get("missing", [])}

    def connected_ids(self, subset=None, show_ip=False):
        """Return the ids of minions that are connected."""
        with _local.connect(self.opts) as line:
            minions = line.call("minions")["minions"]
        chosen = {id_: row for id_, row in minions.items() if row.get("connected") and (subset is None or id_ in subset)}
        return {(id_, row.get("address")) for id_, row in chosen.items()} if show_ip else set(chosen)

    def match_check(self, regex, fun):
        """Say whether a function fits a pattern, or one of several."""
        patterns = [regex] if isinstance(regex, str) else regex
        funs = [fun] if isinstance(fun, str) else fun
        return all(any(re.match(rf"{pattern}\Z", one) or fnmatch.fnmatch(one, pattern) for pattern in patterns) for one in funs)
