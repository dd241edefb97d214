"""A call of LocalClient as a request to the master."""
from salt.exceptions import EauthAuthenticationError, SaltInvocationError
from salt.utils import args as salt_args

_TARGETS = {
    "glob": "glob", "pcre": "pcre", "list": "list", "grain": "grain", "grain_pcre": "grain_pcre", "pillar": "pillar",
    "pillar_pcre": "pillar_pcre", "pillar_exact": "pillar_exact", "nodegroup": "nodegroup", "range": "range", "ipcidr": "ipcidr",
    "compound": "compound", "node": "list", "data": "data",
}


def target(tgt, tgt_type, opts):
    """Return the fields of a target."""
    if tgt_type not in _TARGETS:
        raise SaltInvocationError("'{}' is not a kind of target: {}".format(tgt_type, ", ".join(sorted(_TARGETS))))
    if tgt_type == "list" and isinstance(tgt, str):
        tgt = [id_.strip() for id_ in tgt.split(",")]
    elif isinstance(tgt, (tuple, set, frozenset)):
        tgt = list(tgt)
    fields = {"tgt": tgt, "tgt_type": tgt_type}
    if opts.get("delimiter"):
        fields["delimiter"] = opts["delimiter"]
    return fields


def _arguments(fun, arg, kwarg):
    """Return the arguments as a job carries them: a list, or one of each of several functions."""
    if isinstance(fun, list):
        if len(arg) != len(fun):
            raise SaltInvocationError(f"{len(fun)} functions need {len(fun)} lists of arguments, these are {len(arg)}")
        return [salt_args.parse_input(_as_list(one)) for one in arg]
    return salt_args.parse_input(salt_args.condition_input(_as_list(arg), kwarg))


def _as_list(arg):
    if arg is None:
        return []
    return [arg] if isinstance(arg, (str, bytes, int, float)) else list(arg)


def publish(tgt, fun, arg=(), tgt_type="glob", ret="", jid="", timeout=None, kwarg=None, **kwargs):
    """Return the fields of a request to publish a job."""
    for name in "eauth", "token", "username", "password":
        if kwargs.get(name) and name != "username":
            raise EauthAuthenticationError(
                f"{name}: the master knows who asks by the user of this process and the rules of publisher_acl; leave it out"
            )
    tgt_type = kwargs.get("expr_form", tgt_type)
    if isinstance(fun, str) and "," in fun:
        fun = fun.split(",")
    fields = target(tgt, tgt_type, kwargs)
    fields.update(fun=fun, arg=_arguments(fun, arg, kwarg))
    for name, value in ("ret", ret), ("jid", jid), ("metadata", kwargs.get("metadata")):
        if value:
            fields[name] = ",".join(value) if name == "ret" and isinstance(value, (list, tuple)) else value
    if timeout:
        fields["timeout"] = int(timeout)
    return fields
