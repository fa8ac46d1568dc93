"""Pruning: masks that make elements of a module's tensors 0, as torch.nn.utils.prune.

A pruned `weight` is computed before each forward from the parameter weight_orig and the buffer weight_mask; remove() makes it
a parameter again, with its zeros.
"""
import abc
import collections.abc
import numbers

from ... import _C
from ..._ignored import harmless
from .convert_parameters import parameters_to_vector


class BasePruningMethod(abc.ABC):
    """A rule that makes masks; a subclass says how in compute_mask(), and of what kind it is in PRUNING_TYPE.

    PRUNING_TYPE: "unstructured" (single elements), "structured" (slices along self.dim) or "global".
    """
    _tensor_name = None

    @harmless(inputs="a hook is given them, and looks at the module alone")
    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abc.abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask for a tensor, of zeros and ones: zeros where default_mask has them, and where this rule wants them."""

    def apply_mask(self, module):
        """The module's original tensor times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes module.name by cls(*args, **kwargs), on top of what pruned it before.  The scores, of the tensor's shape, are
        judged in its place."""
        method, before = cls(*args, **kwargs), _hook_of(module, name)
        method._tensor_name = name
        original = getattr(module, name)
        scores = _checked_scores(importance_scores, original)
        if before is None:
            mask = method.compute_mask(scores, default_mask=_C.ones_like(original, memory_format=_C.contiguous_format))
            del module._parameters[name]
            module.register_parameter(name + "_orig", original)
        else:
            key, old = before
            method = _chained(old, method)
            mask = method.compute_mask(scores, default_mask=_mask_of(module, name))
            del module._forward_pre_hooks[key]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """A tensor with zeros where this rule, and default_mask, want them."""
        scores = _checked_scores(importance_scores, t)
        default_mask = _C.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default_mask)

    def remove(self, module):
        """Makes the pruned tensor a parameter again: that of the optimizers, with the zeros of the mask."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = pruned.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _hook_of(module, name):
    """(key, hook) of what prunes module.name; None if nothing does."""
    found = [(k, h) for k, h in module._forward_pre_hooks.items() if isinstance(h, BasePruningMethod) and h._tensor_name == name]
    if len(found) > 1:
        raise AssertionError(f"Avoid having multiple pruning hooks on the same tensor {name} in module {module}. Use a "
                             "PruningContainer")
    return found[0] if found else None


def _mask_of(module, name):
    return getattr(module, name + "_mask").detach().clone(memory_format=_C.contiguous_format)


def _checked_scores(scores, t):
    if scores is None:
        return t
    if scores.shape != t.shape:
        raise AssertionError(f"importance_scores should have the same shape as parameter, but importance_scores shape "
                             f"{scores.shape} does not match parameter shape {t.shape}")
    return scores


class PruningContainer(BasePruningMethod):
    """Several methods that prune one tensor, each what the earlier ones left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        methods = args if len(args) != 1 or isinstance(args[0], BasePruningMethod) else args[0]
        for method in methods:
            if self._tensor_name is None:
                self._tensor_name = getattr(method, "_tensor_name", None)
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Adds a method for the same tensor; None adds nothing."""
        if method is None:
            return
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer "
                             f"{self}. Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """default_mask with the zeros of the last method, which sees what default_mask leaves."""
        method = self._pruning_methods[-1]
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            left = default_mask == 1
        elif kind == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
            dim = method.dim % t.dim()
            slices = default_mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
            left = [slice(None)] * dim + [slices]
        elif kind == "global":
            left = [slice(None)] * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        left = tuple(left) if isinstance(left, list) else left
        mask = default_mask.clone().to(t.dtype)
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(mask.dtype)
        return mask


def _chained(old, method):
    """A container of what pruned a tensor and one more method."""
    chain = PruningContainer(*(old if isinstance(old, PruningContainer) else (old,)))
    chain.add_pruning_method(method)
    return chain


# ---- amounts


def _validate_pruning_amount_init(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and amount > 1):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount, tensor_size):
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount, tensor_size):
    """How many of so many elements an amount, a number of them or a part, is."""
    _validate_pruning_amount(amount, tensor_size)
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


# ---- single elements


class Identity(BasePruningMethod):
    """Prunes nothing: gives the module the mask and the hook."""
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        return super().apply(module, name)


class _Unstructured(BasePruningMethod):
    """Prunes single elements; a subclass says which ones go."""
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _compute_nparams_toprune(self.amount, t.numel())
        mask = default_mask.clone(memory_format=_C.contiguous_format)
        if count:
            mask.view(-1)[self._going(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements chosen at random."""

    def _going(self, t, count):
        return _C.rand_like(t).view(-1).topk(count).indices

    @classmethod
    def apply(cls, module, name, amount):
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Prunes the elements of the smallest absolute values."""

    def _going(self, t, count):
        return t.abs().reshape(-1).topk(count, largest=False).indices

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


# ---- slices


class _Structured(BasePruningMethod):
    """Prunes slices along a dimension; a subclass says which ones stay."""
    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim):
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t, default_mask):
        if t.dim() <= 1:
            raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                             f"{tuple(t.shape)} with {t.dim()} dims")
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        count = _compute_nparams_toprune(self.amount, t.shape[self.dim])
        if count == 0:
            return default_mask
        shape = [1] * t.dim()
        shape[self.dim] = -1
        return self._staying(t, count).to(default_mask.dtype).reshape(shape) * default_mask


class RandomStructured(_Structured):
    """Prunes slices along `dim` chosen at random."""

    def __init__(self, amount, dim=-1):
        super().__init__(amount, dim)

    def _staying(self, t, count):
        drawn = _C.rand(t.shape[self.dim])
        return (drawn > drawn.kthvalue(count).values).to(t.device)

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the slices along `dim` of the smallest norms of order n."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def _staying(self, t, count):
        dim = self.dim % t.dim()
        norms = _C.norm(t, p=self.n, dim=[d for d in range(t.dim()) if d != dim])
        staying = _C.zeros(norms.shape, dtype=_C.bool, device=t.device)
        staying[norms.topk(norms.numel() - count).indices] = True
        return staying

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""
    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"mask shape {self.mask.shape} does not match the tensor's {default_mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        return super().apply(module, name, mask=mask)


# ---- functions


def identity(module, name):
    """Gives module.name a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes elements of module.name chosen at random: `amount` of them, or that part if it is a float."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes the elements of module.name with the smallest absolute values (or scores)."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes slices of module.name along dim chosen at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the slices of module.name along dim with the smallest norms of order n."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes the tensors of (module, name) pairs by a method of single elements, as if they were one tensor; importance_scores:
    {(module, name): scores}."""
    if not isinstance(parameters, collections.abc.Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    judged = parameters_to_vector([scores.get(pair, getattr(*pair)) for pair in parameters])
    masks = parameters_to_vector([getattr(module, name + "_mask", _C.ones_like(getattr(module, name))) for module, name in parameters])
    method, chain = pruning_method(**kwargs), PruningContainer()
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {method.PRUNING_TYPE}")
    chain._tensor_name = method._tensor_name = "temp"
    chain.add_pruning_method(method)
    mask = chain.compute_mask(judged, masks)
    sizes = [getattr(*pair).numel() for pair in parameters]
    for (module, name), part in zip(parameters, mask.split(sizes)):
        custom_from_mask(module, name, part.view_as(getattr(module, name)))


def custom_from_mask(module, name, mask):
    """Prunes module.name where the mask has zeros."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module, name):
    """Makes a pruned module.name a parameter again, with its zeros."""
    found = _hook_of(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    key, hook = found
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module):
    """Whether something prunes a tensor of the module or of one in it."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())
