"""The handles that registering a hook returns."""
import collections
import itertools
import weakref


class RemovableHandle:
    """Removes a hook that was registered, by remove() or the end of a `with` statement.  The hook stands in `hooks_dict` by the number
    `id` of the handle, and so does what `extra_dict` (a dict or a list of them) says of it; the handle holds none of them."""

    _numbers = itertools.count()

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.id = next(self._numbers)
        self._refer_to(hooks_dict, [extra_dict] if isinstance(extra_dict, dict) else extra_dict or ())

    def _refer_to(self, hooks_dict, extra):
        # A reference to a dict that is gone gives None.
        self.hooks_dict_ref = weakref.ref(collections.OrderedDict() if hooks_dict is None else hooks_dict)
        self.extra_dict_ref = tuple(weakref.ref(d) for d in extra if d is not None)

    def remove(self):
        """Removes the hook; the second time it does nothing."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            holder = reference()
            if holder is not None:
                holder.pop(self.id, None)

    def __getstate__(self):
        return self.hooks_dict_ref(), self.id, tuple(reference() for reference in self.extra_dict_ref)

    def __setstate__(self, state):
        hooks_dict, self.id, *extra = state
        RemovableHandle._numbers = itertools.count(max(next(self._numbers), self.id + 1))  # a handle made later has another number
        self._refer_to(hooks_dict, extra[0] or () if extra else ())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def add_hook(hooks, hook, first=False, extra=None):
    """Puts a hook into an OrderedDict, before the others if `first`; returns its handle.  The dicts of `extra` say something of it."""
    handle = RemovableHandle(hooks, extra_dict=extra)
    hooks[handle.id] = hook
    if first:
        hooks.move_to_end(handle.id, last=False)
    for holder in extra or ():
        holder[handle.id] = True
    return handle


class RemovedByCall(RemovableHandle):
    """A handle of a hook that stands in no dict."""

    def __init__(self, remove):
        super().__init__(None)
        self._remove = remove

    def remove(self):
        """Removes the hook; the second time it does nothing."""
        remove, self._remove = self._remove, None
        if remove is not None:
            remove()

    def __repr__(self):  # a program knows it as what it is one of
        return f"<{RemovableHandle.__module__}.{RemovableHandle.__qualname__} object at {id(self):#x}>"

    def __getstate__(self):
        return self._remove, self.id

    def __setstate__(self, state):
        self._remove, self.id = state
        self._refer_to(None, ())
