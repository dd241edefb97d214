"""The minion's beacons, through the running program."""
from salt import _loaders


class Beacon:
    """Lists and changes beacons by the functions of the module beacons."""

    def __init__(self, opts, functions):
        self.opts, self.functions = opts, functions

    def _call(self, name, *args, **kwargs):
        return _loaders.functions("modules", f"salt.beacons.Beacon.{name}", self.opts)[f"beacons.{name}"](*args, **kwargs)

    def list_beacons(self, include_pillar=True, include_opts=True):
        """Return the beacons that are configured."""
        return self._call("list", return_yaml=False, include_pillar=include_pillar, include_opts=include_opts)

    def list_available_beacons(self):
        """Return the beacons that could be configured."""
        return self._call("list_available", return_yaml=False)

    def add_beacon(self, name, beacon_data):
        """Add a beacon."""
        return self._call("add", name, beacon_data)

    def modify_beacon(self, name, beacon_data):
        """Change a beacon."""
        return self._call("modify", name, beacon_data)

    def delete_beacon(self, name):
        """Delete a beacon."""
        return self._call("delete", name)

    def enable_beacon(self, name):
        """Enable a beacon."""
        return self._call("enable_beacon", name)

    def disable_beacon(self, name):
        """Disable a beacon."""
        return self._call("disable_beacon", name)

    def process(self, config, grains):
        """Raise: the program runs beacons itself."""
        raise NotImplementedError("beacons are run by the minion itself")
