"""Files of the master's file server, through the running program."""
import os

from salt import _host, _loaders


def get_file_client(opts, pillar=False):
    """Return a client of the file server."""
    return Client(opts)


class Client:
    """Fetches files by the functions of the module cp."""

    def __init__(self, opts):
        self.opts = opts

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.destroy()

    def destroy(self):
        """Do nothing: no connection is held."""

    def _cp(self, name):
        return _loaders.functions("modules", f"salt.fileclient.{name}", self.opts)[f"cp.{name}"]

    def get_file(self, path, dest="", makedirs=False, saltenv="base", gzip=None, cachedir=None):
        """Fetch a file and return where it is."""
        return self._cp("get_file")(path, dest, saltenv=saltenv, makedirs=makedirs) if dest else self.cache_file(path, saltenv)

    def get_url(self, url, dest, makedirs=False, saltenv="base", no_cache=False, cachedir=None, source_hash=None, verify_ssl=True,
                use_etag=False):
        """Fetch a file of any address and return where it is, or with no_cache its content."""
        if no_cache and not dest:
            return self._cp("get_url")(url, None, saltenv=saltenv)
        return self._cp("get_url")(url, dest or "", saltenv=saltenv, makedirs=makedirs)

    def cache_file(self, path, saltenv="base", cachedir=None, source_hash=None, verify_ssl=True, use_etag=False):
        """Fetch a file into the cache and return where it is; an empty text when it is not there."""
        more = {"source_hash": source_hash} if source_hash else {}
        return self._cp("cache_file")(path, saltenv=saltenv, **more) or ""

    def cache_files(self, paths, saltenv="base", cachedir=None):
        """Fetch several files into the cache."""
        return [self.cache_file(path, saltenv) for path in (paths.split(",") if isinstance(paths, str) else paths)]

    def cache_dir(self, path, saltenv="base", include_empty=False, include_pat=None, exclude_pat=None, cachedir=None):
        """Fetch a folder into the cache and return where its files are."""
        return self._cp("cache_dir")(path, saltenv=saltenv, include_empty=include_empty, include_pat=include_pat, exclude_pat=exclude_pat)

    def cache_master(self, saltenv="base", cachedir=None):
        """Fetch all files into the cache."""
        return self._cp("cache_master")(saltenv=saltenv)

    def cache_local_file(self, path, **kwargs):
        """Copy a file of this machine into the cache."""
        return self._cp("cache_local_file")(path)

    def is_cached(self, path, saltenv="base", cachedir=None):
        """Return where a file is in the cache, or an empty text."""
        return self._cp("is_cached")(path, saltenv=saltenv)

    def cache_dest(self, url, saltenv="base", cachedir=None):
        """Return where a file would be in the cache."""
        return self._cp("cache_dest")(url, saltenv=saltenv)

    def get_dir(self, path, dest="", saltenv="base", gzip=None, cachedir=None):
        """Fetch a folder and return where its files are."""
        return self._cp("get_dir")(path, dest, saltenv=saltenv)

    def get_template(self, url, dest, template="jinja", makedirs=False, saltenv="base", cachedir=None, **kwargs):
        """Fetch a template, render it and return where the result is."""
        return self._cp("get_template")(url, dest, template=template, saltenv=saltenv, makedirs=makedirs, **kwargs)

    def hash_file(self, path, saltenv="base"):
        """Return {"hsum", "hash_type"} of a file."""
        return self._cp("hash_file")(path, saltenv=saltenv)

    def hash_and_stat_file(self, path, saltenv="base"):
        """Return (the hash of a file, its numbers)."""
        return self.hash_file(path, saltenv), self._cp("stat_file")(path, saltenv=saltenv)

    def file_list(self, saltenv="base", prefix=""):
        """Return the names of all files."""
        return self._cp("list_master")(saltenv=saltenv, prefix=prefix)

    def dir_list(self, saltenv="base", prefix=""):
        """Return the names of all folders."""
        return self._cp("list_master_dirs")(saltenv=saltenv, prefix=prefix)

    def symlink_list(self, saltenv="base", prefix=""):
        """Return {link: where it leads}."""
        return self._cp("list_master_symlinks")(saltenv=saltenv, prefix=prefix)

    def file_local_list(self, saltenv="base"):
        """Return the names of the files in the cache."""
        return self._cp("list_minion")(saltenv=saltenv)

    def list_states(self, saltenv):
        """Return the names of all state files."""
        return self._cp("list_states")(saltenv=saltenv)

    def get_state(self, sls, saltenv, cachedir=None):
        """Fetch a state file and return {"source", "dest"}, or {}."""
        sls = sls.replace(".", "/")
        for name in f"{sls}.sls", f"{sls}/init.sls":
            dest = self.cache_file(f"salt://{name}", saltenv)
            if dest:
                return {"source": f"salt://{name}", "dest": dest}
        return {}

    def envs(self):
        """Return the names of all environments."""
        return self._cp("envs")()

    def master_opts(self):
        """Return the options of this machine's minion."""
        here = _host.host()
        return dict(here.opts()) if here is not None else dict(self.opts)

    def get_cachedir(self, cachedir=None):
        """Return the cache's folder."""
        return os.path.join(self.opts["cachedir"], cachedir) if cachedir else self.opts["cachedir"]


LocalClient = RemoteClient = FSClient = PillarClient = Client
