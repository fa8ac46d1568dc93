"""Names of tracing below autograd, which is not done here."""
from ..._refused import refused

make_fx = refused("torch.fx.experimental.proxy_tensor.make_fx", "modules and functions are traced by torch.fx.symbolic_trace alone")


def get_proxy_mode():
    """None: no such trace runs."""
