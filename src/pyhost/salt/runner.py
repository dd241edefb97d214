"""RunnerClient: functions that run in the master."""
from salt import _masterfun


class RunnerClient(_masterfun.Client):
    """Runs runners. It works where salt-run does."""

    op, client, tag_prefix = "runner", "runner", "run"
    _following = {"follow": True}

    @property
    def functions(self):
        """The names of all runners with a function each that runs it."""
        return {fun: self._function(fun) for fun in self._docs()}

    def _function(self, fun):
        return lambda *args, **kwargs: self.cmd(fun, list(args), kwarg=kwargs)

    def _docs(self):
        return self.cmd("doc.runner")


class Runner(RunnerClient):
    """The runner that the options name, as the program salt-run has it."""

    def print_docs(self):
        """Print the documentation of the runners that the options name."""
        for fun, text in sorted(self.get_docs(self.opts.get("fun")).items()):
            print(f"{fun}:\n{text}\n")

    def run(self):
        """Run what the options name."""
        ret = self.cmd(self.opts["fun"], self.opts.get("arg", []))
        if not self.opts.get("quiet"):
            from salt import output

            output.display_output(ret, self.opts.get("output", "nested"), self.opts)
        return ret
