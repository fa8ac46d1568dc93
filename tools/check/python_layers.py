"""Imports in python/argand point down only, and form no circle (docs/design/0021-python-layers.md).

A file may import files of its own layer and of those below it, at its top and inside functions.  An import inside a
function may point up, and close a circle, if its line says why: `# upward: REASON`.
"""
from python_imports import FOLDER, PACKAGE, cycle_in, edges_of, imports_of, knots, module_of, runs

# From the lowest to the highest.  Names are without "argand."; the package's own __init__.py is in the layer "package".  A
# name stands for the module and all below it, apart from those that have a longer name here.
LAYERS = {
    "base": """
        __future__ _aten_overrides _compiling _compiling.options _contextlib _cuda_libraries _device_names _dispatch_keys
        _dtype_limits _dtypes _failures _float32_precision _forks _given_hooks _global_settings _hook_handles _ignored _numpy_if_loaded _overridable
        _per_rank _plain_functions _process_end _schemas _serialization _serialization.state _sharing _surface
        _switches _symbolic_numbers _tags _tensor_arguments torch_version utils version""",
    "tensors": """
        _buffers _control_flow _copies _decompositions _dispatch _dispatched_metadata _foreach _functions _library_ops _linear_algebra _overloads
        _rare_ops _typed_storage _typed_tensors _untyped_storage fft linalg overrides quasirandom
        return_types signal sparse special storage testing types utils._device utils._mode_utils
        utils._cpp_extension utils._python_dispatch utils.cpp_extension utils.dlpack""",
    "gradients": "_custom_calls _fake_quantize amp autograd utils._swap",
    "devices": "_legacy_types accelerator autograd.profiler cpu cuda mps mtia random utils._triton xpu",
    "methods": "_tensor_methods",
    "modules": "backends functional nn",
    "training": """
        _fake_tensors _rare_settings ao cuda._utils cuda.graphed distributions
        func library masked onnx optim utils._checkpoint_debug utils._checkpoint_regions utils._foreach_utils
        utils._selective_checkpoint utils.checkpoint""",
    "files": """
        _serialization.names _serialization.rebuilding _serialization.unpickling _serialization.writing hub multiprocessing
        serialization utils.model_zoo""",
    "processes": """
        checkpoint cuda.comm distributed futures nn.parallel profiler utils.data utils.flop_counter
        utils.tensorboard""",
    "compiler": """
        _compiling.models _compiling.names compiler jit""",
    "package": "__config__",
    "programs": """
        _compiling.calls _compiling.guards _overridable_functions _symbols distributed.launch distributed.run fx models
        utils.benchmark utils.collect_env""",
    "alias": "__main__ _torch",
}
# The one file that may import argand/_torch, which is what `import torch` means: it installs it.  Argand itself is not made of it.
ALIAS, INSTALLS_ALIAS = f"{PACKAGE}._torch", f"{PACKAGE}.__main__"
NAMES = list(LAYERS)
RANKS = {name: rank for rank, names in enumerate(LAYERS.values()) for name in names.split()}
RANKS[""] = NAMES.index("package")


def rank_of(module):
    """The place of a module in the table, from below; None if it has none."""
    name = module.partition(".")[2]
    while name not in RANKS and name:
        name = name.rpartition(".")[0]
    return RANKS[name] if name or module == PACKAGE else None


def wrong_import(module, found):
    """What is wrong with one import, or None."""
    own, other = rank_of(module), rank_of(found.target)
    if ALIAS in runs(module, found.target) and module != INSTALLS_ALIAS:
        return f"must not import {found.target}: only {INSTALLS_ALIAS} imports the alias"
    if found.reason == "" or (found.reason is not None and not found.inside):
        return "`# upward:` needs a reason, and an import inside a function"
    if own is not None and other is not None and other > own and found.reason is None:
        return f"must not import {found.target}: {NAMES[own]} is below {NAMES[other]}"
    return None


def findings(tree):
    paths = {module_of(path): path for path in tree.all_files(".py", under=(f"{FOLDER}{PACKAGE}/",))}
    imports = imports_of({path: tree.text(path) for path in paths.values()})
    checked = {module_of(path) for path in tree.files(".py", under=(f"{FOLDER}{PACKAGE}/",))}
    found = []
    for module in sorted(checked):
        if rank_of(module) is None:
            found.append(f"{paths[module]}: it stands in no layer of tools/check/python_layers.py")
        found += [f"{paths[module]}:{i.line}: {wrong}" for i in imports[module] if (wrong := wrong_import(module, i))]
    for inside in (False, True):  # a cycle at the top of files may stop an import; the others tie the files together
        edges = edges_of(imports, inside, declared=not inside)
        groups = [group for group in knots(edges) if checked & set(group)]
        found += [f"{paths[group[0]]}: import cycle: {' -> '.join(cycle_in(edges, group))}" for group in groups]
        if groups:
            break
    return found
