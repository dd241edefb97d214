"""Results of state runs."""
import copy
import logging

log = logging.getLogger(__name__)


def gen_tag(low):
    """Return the key under which a state's result is told."""
    return "{0[state]}_|-{0[__id__]}_|-{0[name]}_|-{0[fun]}".format(low)


def _chunks_of(state_id, highstate):
    """Return the requisites of a state by its key."""
    ident = state_id.split("_|-")[1]
    wanted = []
    for state, body in (highstate or {}).get(ident, {}).items():
        if isinstance(body, list):
            wanted += [arg for arg in body if isinstance(arg, dict)]
    return wanted


def search_onfail_requisites(sid, highstate):
    """Return the states that run when this one fails, [(state, name)], and those of onfail_in."""
    onfails = []
    ident = sid.split("_|-")[1]
    for other, body in (highstate or {}).items():
        for state, args in body.items() if isinstance(body, dict) else ():
            for arg in args if isinstance(args, list) else ():
                for ref in arg.get("onfail", []) if isinstance(arg, dict) else ():
                    pairs = ref.items() if isinstance(ref, dict) else [("id", ref)]
                    onfails += [(other, state) for _, name in pairs if name == ident]
    for arg in _chunks_of(sid, highstate):
        for ref in arg.get("onfail_in", []):
            onfails += [(name, state) for state, name in (ref.items() if isinstance(ref, dict) else [("id", ref)])]
    return onfails


def check_onfail_requisites(state_id, state_result, running, highstate):
    """Return True when states that run on failure mended this one, False when they failed, None without such."""
    if state_result.get("result"):
        return True
    handlers = {ident for ident, _ in search_onfail_requisites(state_id, highstate)}
    if not handlers:
        return None
    results = [result.get("result") for key, result in running.items() if key.split("_|-")[1] in handlers]
    return bool(results) and all(results)


def check_result(running, recurse=False, highstate=None):
    """Say whether a run's results are all good; those of a run by minion are looked into."""
    if not isinstance(running, dict) or not running:
        return False
    for state_id, result in running.items():
        if not isinstance(result, dict):
            return False
        if "result" not in result:
            good = check_result(result, recurse=True, highstate=highstate)
        else:
            good = result["result"] is not False
            if not good and highstate:
                good = bool(check_onfail_requisites(state_id, result, running, highstate))
        if not good:
            return False
    return True


def merge_subreturn(original_return, sub_return, subkey=None):
    """Merge the result of a state that another one called into that one's."""
    if sub_return["result"] is False:
        original_return["result"] = sub_return["result"]
    comments = original_return["comment"]
    sub = sub_return["comment"]
    if not isinstance(comments, list):
        comments = [comments] if comments else []
    comments += sub if isinstance(sub, list) else [sub]
    original_return["comment"] = comments if isinstance(original_return["comment"], list) else "\n".join(comments)
    if sub_return.get("changes"):
        original_return.setdefault("changes", {})[subkey or sub_return["name"]] = copy.deepcopy(sub_return["changes"])
    if sub_return.get("pchanges"):
        original_return.setdefault("pchanges", {}).update(sub_return["pchanges"])
    if sub_return.get("warnings"):
        original_return.setdefault("warnings", []).extend(sub_return["warnings"])
    return original_return


def get_sls_opts(opts, **kwargs):
    """Return the options of a state run, with its environments and its test mode."""
    opts = copy.deepcopy(opts)
    if "localconfig" in kwargs:
        from salt import config

        return config.minion_config(kwargs["localconfig"], defaults=opts)
    for name in "saltenv", "pillarenv":
        if name in kwargs:
            opts[name] = str(kwargs[name]) if kwargs[name] is not None else None
    if "test" in kwargs:
        opts["test"] = kwargs["test"]
    return opts
