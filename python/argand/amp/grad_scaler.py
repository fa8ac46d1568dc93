"""Loss scaling for float16 (Micikevicius and others, 2018)."""
import collections
import enum
import inspect
import warnings

from .. import _C

__all__ = ["GradScaler", "OptState"]


class OptState(enum.Enum):
    """What was done for an optimizer since the last update()."""
    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state():
    """What is known of an optimizer at the beginning of an iteration."""
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Multiplies losses by a scale, so that small gradients do not vanish in float16, and divides gradients by it before
    an optimizer sees them.  A step with an infinity or NaN in a gradient is left out and the scale becomes smaller; after
    growth_interval steps without, it grows.

        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    """

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        self._device = device
        self._enabled = enabled
        if device == "cuda" and enabled and not _C.cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            self._enabled = False
        if self._enabled:
            assert growth_factor > 1.0, "The growth factor must be > 1.0."
            assert backoff_factor < 1.0, "The backoff factor must be < 1.0."
        self._init_scale = init_scale
        self._scale = None  # a tensor on the device of the first loss
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker = None
        self._per_optimizer_states = collections.defaultdict(_refresh_per_optimizer_state)  # by id

    def _of(self, optimizer):
        return self._per_optimizer_states[id(optimizer)]

    def _check_scale_growth_tracker(self, what):
        fix = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
        assert self._scale is not None, f"Attempted {what} but _scale is None.  {fix}"
        assert self._growth_tracker is not None, f"Attempted {what} but _growth_tracker is None.  {fix}"
        return self._scale, self._growth_tracker

    def _lazy_init_scale_growth_tracker(self, device):
        self._scale = _C.full((), self._init_scale, dtype=_C.float32, device=device)
        self._growth_tracker = _C.full((), self._init_growth_tracker, dtype=_C.int32, device=device)

    def scale(self, outputs):
        """A tensor, or all in nested iterables, times the scale."""
        if not self._enabled:
            return outputs
        scales = {}

        def apply(value):
            if isinstance(value, _C.Tensor):
                if self._scale is None:
                    self._lazy_init_scale_growth_tracker(value.device)
                if value.device not in scales:
                    scales[value.device] = self._scale.to(value.device)
                return value * scales[value.device]
            if hasattr(value, "__iter__") and not isinstance(value, (str, bytes)):
                items = (apply(v) for v in value)
                return type(value)(items) if isinstance(value, (list, tuple)) else items
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        return apply(outputs)

    def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
        """Divides gradients by the scale; whether there was an infinity or NaN, for each device."""
        by_kind = {}
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if not allow_fp16 and p.grad.dtype is _C.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                by_kind.setdefault((p.grad.device, p.grad.dtype), []).append(p.grad)
        found = {}
        for (device, _), grads in by_kind.items():
            if device not in found:
                found[device] = found_inf.to(device, copy=True)
            _C._amp_foreach_non_finite_check_and_unscale_(grads, found[device], inv_scale.to(device))
        return found

    def unscale_(self, optimizer):
        """Divides the gradients of an optimizer's parameters by the scale, for programs that clip them before step()."""
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._of(optimizer)
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inv_scale = self._scale.double().reciprocal().float()
        found_inf = _C.full((), 0.0, dtype=_C.float32, device=self._scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inv_scale, found_inf, False)
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(self, optimizer, state, *args, **kwargs):
        if not sum(found.item() for found in state["found_inf_per_device"].values()):
            return optimizer.step(*args, **kwargs)
        return None

    def _step_of_scaled(self, optimizer, state, *args, **kwargs):
        """The step of an optimizer that unscales gradients itself: it is given the scale, and whether there was an infinity or NaN."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn("GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. In the near future "
                          "GradScaler registers `grad_scale: Tensor` and `found_inf: Tensor` to the passed optimizer and let the "
                          "optimizer use them directly.", FutureWarning, stacklevel=3)
            return optimizer.step(*args, grad_scaler=self, **kwargs)
        unscaled = state["stage"] is OptState.UNSCALED
        if not unscaled:
            self._check_inf_per_device(optimizer)
        scale = self._get_scale_async()
        given = getattr(optimizer, "grad_scale", None)  # the program's own, which multiplies the scale
        optimizer.grad_scale = given if unscaled else scale if given is None else scale * given
        optimizer.found_inf = sum(found.to(scale.device) for found in state["found_inf_per_device"].values())
        result = optimizer.step(*args, **kwargs)
        del optimizer.grad_scale, optimizer.found_inf
        return result

    def step(self, optimizer, *args, **kwargs):
        """unscale_() if it was not called, and optimizer.step() if no gradient had an infinity or NaN."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._of(optimizer)
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_of_scaled(optimizer, state, *args, **kwargs)
            state["stage"] = OptState.STEPPED
            return result
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        assert len(state["found_inf_per_device"]) > 0, "No inf checks were recorded for this optimizer."
        result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale=None):
        """The scale of the next iteration, from what was found in this one, or new_scale."""
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            if isinstance(new_scale, float):
                scale.fill_(new_scale)
            else:
                assert (isinstance(new_scale, _C.Tensor) and new_scale.dtype is _C.float32 and new_scale.numel() == 1
                        and not new_scale.requires_grad), (
                    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
                    "requires_grad=False.")
                scale.copy_(new_scale.reshape(()))
        else:
            found = [f.to(scale.device) for state in self._per_optimizer_states.values() for f in state["found_inf_per_device"].values()]
            assert found, "No inf checks were recorded prior to update."
            combined = found[0]
            for other in found[1:]:
                combined = combined + other
            _C._amp_update_scale_(scale, tracker, combined, self._growth_factor, self._backoff_factor, self._growth_interval)
        self._per_optimizer_states.clear()

    def _check_inf_per_device(self, optimizer):
        """Whether a gradient has an infinity or NaN, for each device; leaves the gradients as they are."""
        self._check_scale_growth_tracker("_check_inf_per_device")
        one, none = (_C.full((), value, dtype=_C.float32, device=self._scale.device) for value in (1.0, 0.0))
        state = self._of(optimizer)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, one, none, True)
        return state["found_inf_per_device"]

    def _get_scale_async(self):
        return self._scale

    def get_scale(self):
        """The scale as a number (waits for the device); 1.0 if disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        """What the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Sets what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """What the scale is multiplied by after an infinity or NaN."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Sets what the scale is multiplied by after an infinity or NaN."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """After how many steps without infinities and NaNs the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Sets after how many steps without infinities and NaNs the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self):
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self):
        """Whether it does anything."""
        return self._enabled

    def state_dict(self):
        """The scale, the factors and the count; empty if disabled."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict):
        """Takes over what state_dict() returned."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of "
                               "GradScaler.")
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self):
        state = self.__dict__.copy()
        if self._enabled:
            assert not self._per_optimizer_states, (
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after scaler.update().")
            # The tensors are made anew where the first loss is.
            state["_init_scale"], state["_init_growth_tracker"] = self.get_scale(), self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state
