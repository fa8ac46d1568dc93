"""Files of weights from the net, kept in a folder, and models of a folder with a hubconf.py, as torch.hub."""
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import zipfile
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from . import serialization
from ._ignored import harmless

_NO_BAR = "no bar is drawn, so how it would look is no matter"
try:
    from tqdm.auto import tqdm
except ImportError:
    class tqdm:
        """Stands for tqdm where it is not installed: iterates, counts, and draws no bar."""

        @harmless(disable=_NO_BAR, unit=_NO_BAR, unit_scale=_NO_BAR, unit_divisor=_NO_BAR)
        def __init__(self, iterable=None, total=None, disable=False, unit="it", unit_scale=False, unit_divisor=1000):
            self.iterable, self.total, self.n = iterable, total, 0

        def __iter__(self):
            return iter(self.iterable)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.close()

        def update(self, n=1):
            """Counts."""
            self.n += n

        def close(self):
            """Nothing is open."""

ENV_TORCH_HOME, ENV_XDG_CACHE_HOME, ENV_GITHUB_TOKEN = "TORCH_HOME", "XDG_CACHE_HOME", "GITHUB_TOKEN"
DEFAULT_CACHE_DIR, MODULE_HUBCONF, VAR_DEPENDENCY, READ_DATA_CHUNK = "~/.cache", "hubconf.py", "dependencies", 1 << 17
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # resnet18-bf5a0455.pth: the first digits of the SHA-256 of the file
_folder = None


def _get_torch_home():
    cache = os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR)
    return os.path.expanduser(os.getenv(ENV_TORCH_HOME, os.path.join(cache, "torch")))


def get_dir():
    """The folder for downloads, the same as PyTorch's: set_dir()'s, or "hub" in $TORCH_HOME or ~/.cache/torch."""
    return _folder if _folder is not None else os.path.join(_get_torch_home(), "hub")


def set_dir(d):
    """Sets the folder for downloads."""
    global _folder
    _folder = os.path.expanduser(d)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """Fetches `url` into the file `dst`, which appears whole or not at all.  RuntimeError if the SHA-256 of what came does not
    begin with hash_prefix."""
    dst = os.path.expanduser(dst)
    digest = hashlib.sha256()
    part = tempfile.NamedTemporaryFile(dir=os.path.dirname(dst) or ".", suffix=".partial", delete=False)
    try:
        with part, urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as source:
            total = int(source.headers.get("Content-Length") or 0) or None
            with tqdm(total=total, disable=not progress, unit="B", unit_scale=True, unit_divisor=1024) as bar:
                while block := source.read(READ_DATA_CHUNK):
                    part.write(block)
                    digest.update(block)
                    bar.update(len(block))
        if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
        shutil.move(part.name, dst)
    finally:
        if os.path.exists(part.name):
            os.remove(part.name)


def load_state_dict_from_url(url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None,
                             weights_only=False):
    """torch.load() of a file from the net, which is fetched once and kept in model_dir (default: "checkpoints" in get_dir())."""
    model_dir = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(model_dir, exist_ok=True)
    name = file_name if file_name is not None else os.path.basename(urlparse(url).path)
    path = os.path.join(model_dir, name)
    if not os.path.exists(path):
        print(f'Downloading: "{url}" to {path}', file=sys.stderr)
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found.group(1) if found else None, progress)
    # harmless(check_hash, progress): they concern a download, and the file is already here
    return _load_file(path, map_location, weights_only)


def _load_file(path, map_location, weights_only):
    """A checkpoint, or the only file of a zip archive that is none of torch.save's."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if len(names) == 1 and not names[0].endswith("data.pkl"):
                path = archive.extract(names[0], os.path.dirname(path))
    return serialization.load(path, map_location=map_location, weights_only=weights_only)


def _hubconf(repo_or_dir, source):
    if source != "local":
        raise NotImplementedError(f"torch.hub: only source='local' is supported, got {source!r}: clone the repository and name its "
                                  "folder")
    folder = os.path.expanduser(repo_or_dir)
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("hubconf", os.path.join(folder, MODULE_HUBCONF))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    missing = [m for m in getattr(module, VAR_DEPENDENCY, ()) if importlib.util.find_spec(m) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(repo_or_dir, name, source):
    found = getattr(_hubconf(repo_or_dir, source), name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


_LOCAL = "nothing of a local folder is fetched or asked about, as in PyTorch"


@harmless(force_reload=_LOCAL, skip_validation=_LOCAL, trust_repo=_LOCAL, verbose=_LOCAL)
def list(github, force_reload=False, skip_validation=False, trust_repo=None, verbose=True, *, source="github"):
    """The names of the functions of a folder's hubconf.py."""
    module = _hubconf(github, source)
    return [n for n in dir(module) if callable(getattr(module, n)) and not n.startswith("_")]


@harmless(force_reload=_LOCAL, skip_validation=_LOCAL, trust_repo=_LOCAL)
def help(github, model, force_reload=False, skip_validation=False, trust_repo=None, *, source="github"):
    """The docstring of a function of a folder's hubconf.py."""
    return _entry(github, model, source).__doc__


@harmless(force_reload=_LOCAL, skip_validation=_LOCAL, trust_repo=_LOCAL, verbose=_LOCAL)
def load(repo_or_dir, model, *args, source="github", trust_repo=None, force_reload=False, verbose=True,
         skip_validation=False, **kwargs):
    """Calls a function of a folder's hubconf.py: model(*args, **kwargs)."""
    return _entry(repo_or_dir, model, source)(*args, **kwargs)
