"""Folders of the configuration, the caches and the state trees."""
import os


def _config_dir():
    """Return the folder that the programs look into when they are not told one."""
    try:
        from salt import _built

        return _built.CONFIG_DIR
    except ImportError:
        return "/etc/salt"


ROOT_DIR = "/"
CONFIG_DIR = os.environ.get("SALT_CONFIG_DIR") or _config_dir()
CACHE_DIR = "/var/cache/salt"
SOCK_DIR = "/var/run/salt"
LOGS_DIR = "/var/log/salt"
PIDFILE_DIR = "/var/run"
SHARE_DIR = "/usr/share/salt"
LIB_STATE_DIR = CONFIG_DIR
HOME_DIR = os.path.expanduser("~")
SRV_ROOT_DIR = "/srv"
BASE_FILE_ROOTS_DIR = "/srv/salt"
BASE_PILLAR_ROOTS_DIR = "/srv/pillar"
BASE_MASTER_ROOTS_DIR = "/srv/salt-master"
BASE_THORIUM_ROOTS_DIR = "/srv/thorium"
SPM_PARENT_PATH = "/srv/spm"
SPM_FORMULA_PATH = "/srv/spm/salt"
SPM_PILLAR_PATH = "/srv/spm/pillar"
SPM_REACTOR_PATH = "/srv/spm/reactor"
INSTALL_DIR = os.path.dirname(os.path.abspath(__file__))
CLOUD_DIR = os.path.join(INSTALL_DIR, "cloud")
BOOTSTRAP = os.path.join(CLOUD_DIR, "deploy", "bootstrap-salt.sh")
