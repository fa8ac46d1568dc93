"""Checkpoints that choose by op what they keep: a mode of the forward pass that keeps results, and one of the second run that gives
them in the place of computing them again."""
import collections
import enum

from .. import _C
from .._ignored import harmless
from .._overloads import OpOverload, OpOverloadPacket
from ._python_dispatch import TorchDispatchMode


class CheckpointPolicy(enum.Enum):
    """Whether a checkpoint keeps the result of an op or computes it again."""
    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy is told: whether this is the second run, and in the first what the op gave."""

    @harmless(is_recompute="policies read it", op_output="policies read it")
    def __init__(self, *, is_recompute, op_output=None):
        self.is_recompute, self.op_output = is_recompute, op_output


# Ops whose results have no elements of their own to keep.
_NEVER_KEPT = ("aten.detach.default", "aten.alias.default", "aten.lift_fresh.default", "aten._local_scalar_dense.default")


def _keeps(policy):
    Policy = CheckpointPolicy
    if isinstance(policy, bool):
        return policy
    if policy in (Policy.MUST_CPU_OFFLOAD, Policy.PREFER_CPU_OFFLOAD):
        raise NotImplementedError(f"torch.utils.checkpoint.create_selective_checkpoint_contexts: {policy}: results are kept where they are")
    return policy in (Policy.MUST_SAVE, Policy.PREFER_SAVE)


class _Kept:
    """A result without its history, and its version."""

    def __init__(self, value):
        self.val, self.version = value, value._version if isinstance(value, _C.Tensor) else None

    def get(self, may_be_changed):
        """The result, which the program may not have written since."""
        if self.version is not None and not may_be_changed and self.val._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.val


def _without_history(value):
    return value.detach() if isinstance(value, _C.Tensor) else value


class _CachingTorchDispatchMode(TorchDispatchMode):
    """The first run: `storage` gets the results of ops that the policy keeps."""

    def __init__(self, policy_fn, storage):
        super().__init__()
        self.policy_fn, self.storage = policy_fn, storage

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if str(func) not in _NEVER_KEPT and _keeps(
                self.policy_fn(SelectiveCheckpointContext(is_recompute=False, op_output=result), func, *args, **kwargs)):
            from . import _pytree as pytree
            self.storage[func].append(pytree.tree_map(lambda x: _Kept(_without_history(x)), result))
        return result


class _CachedTorchDispatchMode(TorchDispatchMode):
    """The second run, which takes them out."""

    def __init__(self, policy_fn, storage, allow_cache_entry_mutation=False):
        super().__init__()
        self.policy_fn, self.storage, self.allow_cache_entry_mutation = policy_fn, storage, allow_cache_entry_mutation

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if str(func) in _NEVER_KEPT or not _keeps(self.policy_fn(SelectiveCheckpointContext(is_recompute=True), func, *args, **kwargs)):
            return func(*args, **kwargs)
        if func not in self.storage:
            raise RuntimeError(f"{func} encountered during backward, but not found in storage")
        if not self.storage[func]:
            raise RuntimeError("Trying to backward an extra time. You are only allowed to backward once on any region computed under selective "
                               "activation checkpoint.")
        kept = self.storage[func].popleft()
        from . import _pytree as pytree
        return pytree.tree_map(lambda x: x.get(self.allow_cache_entry_mutation), kept)


def _policy_of(policy):
    if callable(policy) and not isinstance(policy, (OpOverload, OpOverloadPacket)):
        return policy
    if not isinstance(policy, list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    for op in policy:
        if isinstance(op, OpOverloadPacket):
            raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. Please update the "
                             f"OpOverloadPacket to a specific OpOverload. For example, if you have `torch.ops.aten.mm`, change it to "
                             "`torch.ops.aten.mm.default`.")
        if not isinstance(op, OpOverload) and not hasattr(op, "_opoverload"):  # of custom_op()
            raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}.")
    return lambda context, op, *args, **kwargs: op in policy


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """What checkpoint(..., context_fn=) takes: policy(context, op, *args, **kwargs) says by a CheckpointPolicy, or a bool, whether the
    result of an op is kept; a list has the ops whose results are.

    allow_cache_entry_mutation: kept results that the program wrote are given as they are then, which is an error otherwise.
    """
    policy, storage = _policy_of(policy_fn_or_list), collections.defaultdict(collections.deque)
    return _CachingTorchDispatchMode(policy, storage), _CachedTorchDispatchMode(policy, storage, allow_cache_entry_mutation)
