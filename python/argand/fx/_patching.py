"""Replaces functions and methods for the time of a trace."""
import builtins


class _Patcher:
    """Replaces; puts everything back at the end, last first."""

    def __init__(self):
        self._undo = []
        self._patched, self._visited = set(), set()

    def patch(self, frame_dict, name, new_fn, deduplicate=True):
        """frame_dict[name] = new_fn, which takes the place of a name of builtins, too; only once if deduplicate."""
        if deduplicate and (id(frame_dict), name) in self._patched:
            return
        self._patched.add((id(frame_dict), name))
        if name in frame_dict:
            old = frame_dict[name]
            self._undo.append(lambda: frame_dict.__setitem__(name, old))
        else:
            assert hasattr(builtins, name), f"{name} is no name of the module, nor of builtins"
            self._undo.append(lambda: frame_dict.pop(name, None))
        frame_dict[name] = new_fn

    def patch_method(self, cls, name, new_fn, deduplicate=True):
        """cls.name = new_fn; only once if deduplicate."""
        if deduplicate and (cls, name) in self._patched:
            return
        self._patched.add((cls, name))
        old, own = getattr(cls, name), name in vars(cls)
        self._undo.append(lambda: setattr(cls, name, old) if own else delattr(cls, name))
        setattr(cls, name, new_fn)

    def visit_once(self, thing):
        """Whether this is the first visit."""
        if id(thing) in self._visited:
            return False
        self._visited.add(id(thing))
        return True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        while self._undo:
            self._undo.pop()()
        self._patched.clear()
        self._visited.clear()
