"""Facts about calls in a graph, from the schemas of their ops."""
import argand


def _schemas(target):
    """The schemas of the overloads of a function of the library, or of an op."""
    if hasattr(target, "_schema"):
        return [target._schema]
    name = getattr(target, "__name__", "")
    if getattr(argand, name, None) is not target and getattr(argand.ops.aten, name, None) is not target:
        return []
    packet = getattr(argand.ops.aten, name, None)
    return [getattr(packet, overload)._schema for overload in packet.overloads()] if packet is not None else []


def _takes(schema, args, kwargs):
    arguments = {a.name: a for a in schema.arguments}
    positional = [name for name, a in arguments.items() if not a.kwarg_only]
    given = {*positional[:len(args)], *kwargs}
    needed = {name for name, a in arguments.items() if not a.has_default_value()}
    return len(args) <= len(positional) and not set(positional[:len(args)]) & set(kwargs) and needed <= given <= set(arguments)


def check_for_mutable_operation(target, args, kwargs):
    """RuntimeError if a call writes one of its arguments."""
    found = [schema for schema in _schemas(target) if _takes(schema, args, kwargs)]
    if found and all(schema.is_mutable for schema in found):
        raise RuntimeError(f"Tried to trace mutable operation {found[0]}. FX only supports functional code, so operations that mutate operands "
                           "in-place (e.g. via `out` arguments) are not supported")
