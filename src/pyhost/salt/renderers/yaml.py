"""The renderer yaml."""
import logging

from salt.exceptions import SaltRenderError
from salt.utils import yaml
from salt.utils.odict import OrderedDict

log = logging.getLogger(__name__)


def get_yaml_loader(argline):
    """Return a loader that makes ordered dictionaries."""
    return lambda stream: yaml.SaltYamlSafeLoader(stream, dictclass=OrderedDict)


def render(yaml_data, saltenv="base", sls="", argline="", **kws):
    """Return what YAML says."""
    text = yaml_data if isinstance(yaml_data, str) else yaml_data.read()
    try:
        return yaml.load(text, Loader=get_yaml_loader(argline)) or {}
    except yaml.YAMLError as exc:
        mark = getattr(exc, "problem_mark", None)
        raise SaltRenderError(getattr(exc, "problem", None) or str(exc), mark.line + 1 if mark else None, text) from exc
