"""The renderer gpg, which is the program's."""
from salt import _host


def render(gpg_data, saltenv="base", sls="", argline="", **kwargs):
    """Return data with what is encrypted in it decrypted."""
    return _host.functions("renderers", "salt.renderers.gpg.render")["gpg"](gpg_data, saltenv=saltenv, sls=sls, argline=argline, **kwargs)
