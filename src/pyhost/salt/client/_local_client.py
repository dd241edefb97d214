"""LocalClient: jobs for minions, through the master's local socket."""
import logging
import os
import random

from salt import _job, _local, config, syspaths
from salt.client import _request
from salt.exceptions import SaltInvocationError
from salt.utils import jid as salt_jid

log = logging.getLogger(__name__)
_C_PATH = os.path.join(syspaths.CONFIG_DIR, "master")


def get_local_client(c_path=_C_PATH, mopts=None, skip_perm_errors=False, io_loop=None, auto_reconnect=False, listen=False):
    """Return a LocalClient for a configuration, or for options."""
    return LocalClient(c_path, mopts=mopts)


class LocalClient:
    """Publishes jobs and returns what minions answer. It works where salt does: as root, the master's user or a user of publisher_acl."""

    def __init__(self, c_path=_C_PATH, mopts=None, skip_perm_errors=False, io_loop=None, keep_loop=False,
                 auto_reconnect=False, listen=False):
        self.opts = mopts if mopts else config.client_config(c_path)
        self._event = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.destroy()

    def destroy(self):
        """Close what is open."""
        if self._event is not None:
            self._event.destroy()
            self._event = None

    @property
    def event(self):
        """The master's bus."""
        if self._event is None:
            from salt.utils import event

            self._event = event.get_event("master", opts=self.opts, listen=False)
        return self._event

    # ---- beginning a job ------------------------------------------------------------------------------------

    def _timeout(self, timeout):
        """Return the seconds of silence after which the wait for returns ends."""
        try:
            return float(timeout) if timeout is not None else float(self.opts.get("timeout") or 5)
        except (TypeError, ValueError):
            return float(self.opts.get("timeout") or 5)

    def _begin(self, tgt, fun, arg=(), tgt_type="glob", ret="", timeout=None, jid="", kwarg=None, **kwargs):
        """Publish a job and return it, to be closed by the caller; None when nobody is targeted."""
        fields = _request.publish(tgt, fun, arg, tgt_type, ret, jid, None, kwarg, **kwargs)
        line = _local.connect(self.opts)
        try:
            reply = line.call("publish", follow=True, **fields)
            if reply.get("jid"):
                return _job.Job(line, reply, self._timeout(timeout), self.opts)
        except BaseException:
            line.close()
            raise
        line.close()
        return None

    def run_job(self, tgt, fun, arg=(), tgt_type="glob", ret="", timeout=None, jid="", kwarg=None, listen=False, **kwargs):
        """Publish a job and return {"jid", "minions"}; {} when nobody is targeted."""
        fields = _request.publish(tgt, fun, arg, tgt_type, ret, jid, None, kwarg, **kwargs)
        with _local.connect(self.opts) as line:
            reply = line.call("publish", **fields)
        if not reply.get("jid"):
            if listen:
                print("No minions matched the target. No command was sent, no jid was assigned.")
            return {}
        return {"jid": reply["jid"], "minions": reply["minions"]}

    def pub(self, tgt, fun, arg=(), tgt_type="glob", ret="", jid="", timeout=5, listen=False, **kwargs):
        """Publish a job and return {"jid", "minions"}; the jid of one for nobody is empty."""
        return self.run_job(tgt, fun, arg, tgt_type, ret, timeout, jid, **kwargs) or {"jid": "", "minions": []}

    def cmd_async(self, tgt, fun, arg=(), tgt_type="glob", ret="", jid="", kwarg=None, **kwargs):
        """Publish a job and return its jid; 0 when nobody is targeted."""
        return self.run_job(tgt, fun, arg, tgt_type, ret, jid=jid, kwarg=kwarg, **kwargs).get("jid", 0)

    def gather_minions(self, tgt, expr_form):
        """Return the ids that a target matches."""
        with _local.connect(self.opts) as line:
            return line.call("match", **_request.target(tgt, expr_form, {}))["minions"]

    def gather_job_info(self, jid, tgt, tgt_type, listen=True, **kwargs):
        """Ask minions whether they run a job; returns {"jid", "minions"} of the question."""
        return self.run_job(tgt, "saltutil.find_job", [jid], tgt_type, timeout=self.opts.get("gather_job_timeout"))

    # ---- with all returns -----------------------------------------------------------------------------------

    def cmd(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", jid="", full_return=False, kwarg=None, **kwargs):
        """Run a function and return {id: return}; False for a minion that did not return."""
        answers = {}
        job = self._begin(tgt, fun, arg, tgt_type, ret, timeout, jid, kwarg, **kwargs)
        if job is None:
            return answers
        with job:
            for push in job.returns():
                answers[push["id"]] = _job.told(push) if full_return else push.get("return")
            answers.update((id_, False) for id_ in job.silent())
        return answers

    def cmd_full_return(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", verbose=False, kwarg=None, **kwargs):
        """Run a function and return {id: {"ret", "retcode", ...}}."""
        return {id_: one for answer in self.cmd_iter(tgt, fun, arg, timeout, tgt_type, ret, kwarg, **kwargs) for id_, one in answer.items()}

    def cmd_subset(self, tgt, fun, arg=(), tgt_type="glob", ret="", kwarg=None, subset=3, cli=False, progress=False,
                   full_return=False, **kwargs):
        """Run a function on so many of the minions that have it, at random."""
        names = self.cmd(tgt, "sys.list_functions", tgt_type=tgt_type, **kwargs)
        able = [id_ for id_, functions in names.items() if isinstance(functions, list) and fun in functions]
        chosen = random.sample(able, min(subset, len(able)))
        call = self.cmd_iter if cli else self.cmd
        more = {} if cli else {"full_return": full_return}
        return call(chosen, fun, arg, tgt_type="list", ret=ret, kwarg=kwarg, **more, **kwargs)

    # ---- as returns come ------------------------------------------------------------------------------------

    def cmd_iter(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", kwarg=None, **kwargs):
        """Run a function and yield {id: {"ret", "retcode", ...}} as returns come."""
        job = self._begin(tgt, fun, arg, tgt_type, ret, timeout, kwarg=kwarg, **kwargs)
        if job is None:
            return
        with job:
            if kwargs.get("yield_pub_data"):
                yield {"jid": job.jid, "minions": job.minions}
            for push in job.returns():
                yield {push["id"]: _job.told(push)}
            if kwargs.get("expect_minions"):
                for id_ in job.silent():
                    yield {id_: {"failed": True}}

    def cmd_iter_no_block(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", kwarg=None, show_jid=False, verbose=False,
                          **kwargs):
        """As cmd_iter, and None whenever no return is here."""
        job = self._begin(tgt, fun, arg, tgt_type, ret, timeout, kwarg=kwarg, **kwargs)
        if job is None:
            return
        with job:
            while not job.over():
                push = job.step(0)
                yield None if push is None else {push["id"]: _job.told(push)}

    def cmd_cli(self, tgt, fun, arg=(), timeout=None, tgt_type="glob", ret="", verbose=False, kwarg=None, progress=False, **kwargs):
        """As cmd_iter, and at the end {id: {"out": "no_return", "ret": text}} of minions that did not return."""
        job = self._begin(tgt, fun, arg, tgt_type, ret, timeout, kwarg=kwarg, **kwargs)
        if job is None:
            return
        with job:
            yield from _told_to_the_end(job)

    def cmd_batch(self, tgt, fun, arg=(), tgt_type="glob", ret="", kwarg=None, batch="10%", **kwargs):
        """Run a function on so many minions at a time and yield {id: return}."""
        ids = self.gather_minions(tgt, kwargs.pop("expr_form", tgt_type))
        raw = kwargs.pop("raw", False)
        size = _batch_size(batch, len(ids))
        while ids:
            some, ids = ids[:size], ids[size:]
            for answer in self.cmd_iter(some, fun, arg, tgt_type="list", ret=ret, kwarg=kwarg, **kwargs):
                for id_, one in answer.items():
                    yield {"data": dict(one, id=id_, **{"return": one["ret"]})} if raw else {id_: one["ret"]}

    # ---- of a job that was published ------------------------------------------------------------------------

    def _follow(self, jid, minions, timeout):
        line = _local.connect(self.opts)
        try:
            reply = line.call("follow", jid=jid)
        except BaseException:
            line.close()
            raise
        wanted = [id_ for id_ in reply["minions"] if id_ in minions] if minions else reply["minions"]
        return _job.Job(line, {"jid": jid, "minions": wanted}, self._timeout(timeout), self.opts)

    def get_iter_returns(self, jid, minions, timeout=None, tgt="*", tgt_type="glob", expect_minions=False, block=True, **kwargs):
        """Yield {id: {"ret", "retcode", ...}} of a job's returns, those so far first; not blocking, also None."""
        job = self._follow(jid, minions, timeout)
        with job:
            while not job.over():
                push = job.step(None if block else 0)
                if push is not None:
                    yield {push["id"]: _job.told(push)}
                elif not block:
                    yield None
            if expect_minions:
                for id_ in job.silent():
                    yield {id_: {"failed": True}}

    def get_event_iter_returns(self, jid, minions, timeout=None):
        """Yield {id: {"ret", ...}} of a job's returns."""
        return self.get_iter_returns(jid, minions, timeout)

    def get_cli_returns(self, jid, minions, timeout=None, tgt="*", tgt_type="glob", verbose=False, show_jid=False, **kwargs):
        """Yield {id: {"ret", ...}} of a job's returns."""
        return self.get_iter_returns(jid, minions, timeout)

    def get_cli_event_returns(self, jid, minions, timeout=None, tgt="*", tgt_type="glob", verbose=False, progress=False,
                              show_timeout=False, show_jid=False, **kwargs):
        """Yield {id: {"ret", ...}} of a job's returns, and at the end of minions that did not return."""
        job = self._follow(jid, minions, timeout)
        with job:
            yield from _told_to_the_end(job)

    def get_returns(self, jid, minions, timeout=None):
        """Return {id: return} of a job."""
        return {id_: one["ret"] for id_, one in self.get_full_returns(jid, minions, timeout).items()}

    def get_full_returns(self, jid, minions, timeout=None):
        """Return {id: {"ret", "retcode", ...}} of a job."""
        return {id_: one for answer in self.get_iter_returns(jid, minions, timeout) for id_, one in answer.items()}

    def get_cli_static_event_returns(self, jid, minions, timeout=None, tgt="*", tgt_type="glob", verbose=False, show_timeout=False,
                                     show_jid=False):
        """Return {id: {"ret", "retcode", ...}} of a job."""
        return self.get_full_returns(jid, minions, timeout)

    def get_cache_returns(self, jid):
        """Return {id: {"ret", ...}} of the returns that the master has of a job."""
        from salt import runner

        if not salt_jid.is_jid(str(jid)):
            raise SaltInvocationError(f"'{jid}' is no jid")
        record = runner.RunnerClient(self.opts).cmd("jobs.list_job", [str(jid)], print_event=False)
        answers = record.get("Result", {}) if isinstance(record, dict) else {}
        return {id_: {"ret": one["return"] if isinstance(one, dict) and "return" in one else one} for id_, one in answers.items()}

    def returns_for_job(self, jid):
        """Return {id: {"ret", ...}} of the returns that the master has of a job."""
        return self.get_cache_returns(jid)


def _told_to_the_end(job):
    for push in job.returns():
        yield {push["id"]: _job.told(push)}
    for id_ in job.silent():
        yield {id_: {"out": "no_return", "ret": "Minion did not return. [No response]"}}


def _batch_size(batch, n):
    """Return how many minions "10%", "5" or 5 are of n: one at least."""
    text = str(batch).strip()
    try:
        return max(int(float(text[:-1]) / 100 * n), 1) if text.endswith("%") else max(int(text), 1)
    except ValueError:
        raise SaltInvocationError(f"'{batch}' is neither a number of minions nor a part such as 10%") from None
