"""The loader of YAML, by its older name."""
from salt.utils.yaml import SaltYamlSafeLoader, load  # noqa: F401
