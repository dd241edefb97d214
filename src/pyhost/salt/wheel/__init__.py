"""WheelClient: functions that change the master."""
from salt import _masterfun


class WheelClient(_masterfun.Client):
    """Runs wheel functions, which root and the master's user may."""

    op, client, tag_prefix = "wheel", "wheel", "wheel"

    def call_func(self, fun, **kwargs):
        """Run a function with keyword arguments and return what it returns."""
        return self.cmd_sync(dict(kwargs, fun=fun))


Wheel = WheelClient
