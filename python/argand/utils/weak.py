"""Dictionaries by identity, as torch.utils.weak: == of tensors compares their elements, so that they are no keys of others."""
import collections.abc
import weakref


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to another if both are of the same object."""
    __slots__ = ("_id",)

    def __init__(self, key, callback=None):
        super().__init__(key, callback)
        self._id = id(key)

    def __call__(self):
        return super().__call__()

    def __hash__(self):
        return self._id

    def __eq__(self, other):
        mine, others = self(), other()
        return mine is others if mine is not None and others is not None else self is other

    def __ne__(self, other):
        return not self == other


WeakTensorRef = TensorWeakRef = WeakIdRef


class WeakIdKeyDictionary(collections.abc.MutableMapping):
    """A dictionary whose keys are compared by identity, and forgotten with their values when nothing else holds them."""

    def __init__(self, dict=None, ref_type=WeakIdRef):
        self.ref_type, self.data = ref_type, {}
        data = self.data
        self._forget = lambda ref: data.pop(ref, None)
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key):
        return self.data[self.ref_type(key)]

    def __setitem__(self, key, value):
        self.data[self.ref_type(key, self._forget)] = value

    def __delitem__(self, key):
        del self.data[self.ref_type(key)]

    def __contains__(self, key):
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # of a kind that has no weak references
            return False

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return (key for key in [ref() for ref in list(self.data)] if key is not None)

    def __repr__(self):
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self):
        """The weak references to the keys."""
        return list(self.data)

    def copy(self):
        """Another dictionary of the same keys and values."""
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __eq__(self, other):
        if not isinstance(other, collections.abc.Mapping):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    __hash__ = None


WeakTensorKeyDictionary = WeakIdKeyDictionary
