"""Weights by the name of a file, or of what is published, which is kept in the cache and fetched where there is a network."""
import os
import sys
from urllib.error import URLError

from .. import _C, hub, serialization


def weights_file(architecture, weights):
    """The path of a file of weights.  FileNotFoundError that says which file to put where, if there is no network."""
    name = str(weights)  # torchvision's ResNet18_Weights.IMAGENET1K_V1 is written so
    found = _C._find_published(architecture, name, [os.path.join(hub.get_dir(), "checkpoints")])
    if found is None:
        return _C._weights_file(architecture, os.path.expanduser(os.fspath(weights)))  # a file, or an error that lists the names
    if found["path"]:
        return found["path"]
    if not found["places"]:
        raise FileNotFoundError(f"{architecture}: {found['advice']}")
    path = os.path.join(found["places"][0], found["file"])
    os.makedirs(found["places"][0], exist_ok=True)
    print(f'Downloading: "{found["url"]}" to {path}', file=sys.stderr)
    try:
        hub.download_url_to_file(found["url"], path, found["sha256"], progress=sys.stderr.isatty())
    except (URLError, TimeoutError, ConnectionError) as error:
        raise FileNotFoundError(f"{architecture}: {found['advice']} (fetching it failed: {error})") from error
    return path


def load_weights(architecture, weights):
    """The state dict of a file or a published name, on the CPU."""
    state = serialization.load(weights_file(architecture, weights), map_location="cpu")
    if not isinstance(state, dict):
        raise TypeError(f"{architecture}: expected {weights} to hold a dict of tensors, got {type(state).__name__}")
    return state


def build(architecture, make, last, weights, num_classes):
    """make(num_classes), with weights where they are given: as many classes as those have, else 1000."""
    if weights is None:
        return make(1000 if num_classes is None else num_classes)
    state = load_weights(architecture, weights)
    if num_classes is None:
        num_classes = len(state[last]) if last in state else 1000
    model = make(num_classes)
    model.load_state_dict(state)
    return model
