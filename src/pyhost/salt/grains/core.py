"""The minion's own grains, by the functions that gather them."""
import sys

from salt import _host

__FQDN__ = None


def _some(*names):
    """Return the grains of these names that there are."""
    here = _host.host()
    if here is not None:
        grains = here.grains()
    else:
        from salt import client

        grains = client.Caller(mopts={"file_client": "local"}).cmd("grains.items")
    return {name: grains[name] for name in names if name in grains}


def hostname():
    """Return names of this machine."""
    return _some("localhost", "fqdn", "host", "domain")


def id_():
    """Return the minion's id."""
    return _some("id")


def os_data():
    """Return facts about the system and the machine."""
    return _some(
        "kernel", "nodename", "kernelrelease", "kernelversion", "cpuarch", "selinux", "systemd", "init", "lsb_distrib_id",
        "lsb_distrib_release", "lsb_distrib_codename", "osfullname", "osrelease", "oscodename", "os", "num_cpus", "cpu_model", "cpu_flags",
        "os_family", "osarch", "mem_total", "swap_total", "virtual", "ps", "osrelease_info", "osmajorrelease", "osfinger", "gpus",
        "num_gpus", "biosversion", "productname", "manufacturer", "serialnumber", "uuid",
    )


def ip_interfaces():
    """Return addresses by interfaces."""
    return _some("ip_interfaces")


def ip4_interfaces():
    """Return addresses of version 4 by interfaces."""
    return _some("ip4_interfaces")


def ip6_interfaces():
    """Return addresses of version 6 by interfaces."""
    return _some("ip6_interfaces")


def hwaddr_interfaces():
    """Return the cards' addresses by interfaces."""
    return _some("hwaddr_interfaces")


def ip_fqdn():
    """Return addresses of this machine, and of its full name."""
    return _some("ipv4", "ipv6", "fqdn_ip4", "fqdn_ip6")


def fqdns():
    """Return full names of this machine."""
    return _some("fqdns")


def dns():
    """Return the resolver's configuration."""
    return _some("dns")


def default_gateway():
    """Return whether there are ways out of the network."""
    return _some("ip_gw", "ip4_gw", "ip6_gw")


def locale_info():
    """Return the locale."""
    return _some("locale_info")


def get_machine_id():
    """Return the machine's id."""
    return _some("machine_id")


def get_server_id():
    """Return a number for the minion's id."""
    return _some("server_id")


def get_master():
    """Return the master's name."""
    return _some("master")


def kernelparams():
    """Return the kernel's parameters."""
    return _some("kernelparams")


def saltversion():
    """Return the version of Salt that this program speaks as."""
    return _some("saltversion")


def saltversioninfo():
    """Return the numbers of that version."""
    return _some("saltversioninfo")


def path():
    """Return the search path of programs."""
    return _some("path", "systempath")


def pythonversion():
    """Return the version of Python that runs this."""
    return {"pythonversion": list(sys.version_info)}


def pythonpath():
    """Return where Python looks for modules."""
    return {"pythonpath": sys.path}


def pythonexecutable():
    """Return the path of Python."""
    return {"pythonexecutable": sys.executable}
