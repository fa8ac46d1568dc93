"""Names of torch._jit_internal that packages import."""
from typing import Any, Callable, Dict, Final, List, Optional, Tuple, Union  # noqa: F401

from ..futures import Future  # noqa: F401
from ..jit import _overload, _overload_method, export, ignore, is_scripting, unused  # noqa: F401
from ..jit.annotations import (BroadcastingList1, BroadcastingList2, BroadcastingList3, BroadcastingList4,  # noqa: F401
                              BroadcastingList5, BroadcastingList6)


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """if_true where the argument of that name or place is true, else if_false, as one function."""
    def choose(*args, **kwargs):
        chosen = kwargs[arg_name] if arg_name in kwargs else args[arg_index] if arg_index < len(args) else default
        return (if_true if chosen else if_false)(*args, **kwargs)
    choose.__module__ = module_name or choose.__module__
    choose.__name__, choose.__doc__ = func_name or choose.__name__, if_true.__doc__ or if_false.__doc__
    return choose
