"""What modules use of salt-cloud's helpers, which has no program here."""
import ipaddress
import os
import socket
import tempfile
import time

from salt import crypt
from salt.exceptions import SaltCloudConfigError, SaltCloudExecutionFailure, SaltCloudExecutionTimeout
from salt.utils import files


def gen_keys(keysize=2048):
    """Return (private, public) of a new RSA key, as texts."""
    with tempfile.TemporaryDirectory() as folder:
        crypt.gen_keys(folder, "minion", keysize)
        texts = []
        for ending in "pem", "pub":
            with files.fopen(os.path.join(folder, f"minion.{ending}")) as text:
                texts.append(text.read())
        return tuple(texts)


def accept_key(pki_dir, pub, id_):
    """Raise: keys of minions are accepted by the master alone."""
    raise NotImplementedError("a key can't be put into pki_dir from outside: accept it by salt.key.Key(opts).accept(id), or by salt-key")


def remove_key(pki_dir, id_):
    """Raise: keys of minions are removed by the master alone."""
    raise NotImplementedError("a key can't be taken out of pki_dir from outside: delete it by salt.key.Key(opts).delete_key(id), or by salt-key")


def is_public_ip(ip):
    """Say whether an address can be reached from anywhere."""
    return not ipaddress.ip_address(ip).is_private


def ip_to_int(ip):
    """Return an address as a number."""
    return int(ipaddress.ip_address(ip))


def salt_config_to_yaml(configuration, line_break="\n"):
    """Return options as YAML."""
    from salt.utils import yaml

    return yaml.safe_dump(configuration, line_break=line_break, default_flow_style=False)


def wait_for_ip(update_callback, update_args=None, update_kwargs=None, timeout=5 * 60, interval=5, interval_multiplier=1, max_failures=10):
    """Return what a function returns as soon as it is true; None is tried again, False counts as a failure."""
    until = time.monotonic() + timeout
    while True:
        found = update_callback(*(update_args or ()), **(update_kwargs or {}))
        if found is False:
            max_failures -= 1
            if max_failures <= 0:
                raise SaltCloudExecutionFailure("Too many failures occurred while waiting for the IP address.")
        elif found is not None:
            return found
        if time.monotonic() + interval > until:
            raise SaltCloudExecutionTimeout(f"Unable to get IP for {timeout} seconds.")
        time.sleep(interval)
        interval *= interval_multiplier


def wait_for_port(host, port=22, timeout=900, gateway=None, **kwargs):
    """Say whether something listens at a port within so many seconds."""
    if gateway:
        raise NotImplementedError("wait_for_port does not go through a gateway")
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        try:
            socket.create_connection((host, port), timeout=30).close()
            return True
        except OSError:
            time.sleep(1)
    return False


def userdata_template(opts, vm_, userdata):
    """Return a machine's user data, rendered when the options name a renderer."""
    renderer = vm_.get("userdata_template") or opts.get("userdata_template")
    if userdata is None or not renderer:
        return userdata
    from salt import template

    return str(template.compile_template(":string:", {}, renderer, [], [], input_data=userdata))


def list_nodes_select(nodes, selection, call=None):
    """Return the wanted facts of machines."""
    if not selection:
        raise SaltCloudConfigError("query.selection is not set: it lists the facts that are wanted")
    return {name: {fact: value for fact, value in node.items() if fact in selection} for name, node in nodes.items()}
