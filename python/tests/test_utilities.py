"""What packages take beside tensors and modules: nests, loops over tensors, comparison, named ops, downloads, processes."""
import collections
import copy
import dataclasses
import io
import pathlib
import re
import subprocess
import sys

import argand as torch
import numpy as np
import pytest
from argand._torch import _utils
from argand.utils import _pytree as pytree
from argand.utils._contextlib import _DecoratorContextManager
from argand.utils.weak import WeakIdKeyDictionary, WeakIdRef

Point = collections.namedtuple("Point", "x y")
NEST = {"b": [1, (2, 3)], "a": Point(4, None), "c": collections.OrderedDict(z=5), "d": collections.deque([6], maxlen=3)}


def test_nests_come_apart_and_together():
    leaves, spec = pytree.tree_flatten(NEST)
    assert leaves == [1, 2, 3, 4, None, 5, 6] and spec.num_leaves == 7
    assert pytree.tree_unflatten(leaves, spec) == NEST and pytree.tree_structure(NEST) == spec
    doubled = pytree.tree_map(lambda v: v and 2 * v, NEST)
    assert doubled["b"] == [2, (4, 6)] and isinstance(doubled["a"], Point) and doubled["d"].maxlen == 3
    assert pytree.tree_map(lambda a, b: a + b, [1, (2,)], [10, (20,)]) == [11, (22,)]
    assert pytree.tree_map_only(int, str, {"a": 1, "b": 2.5}) == {"a": "1", "b": 2.5}
    assert pytree.tree_leaves([1, [2, 3]], is_leaf=lambda x: x == [2, 3]) == [1, [2, 3]]
    assert pytree.tree_all(lambda x: x > 0, [1, 2]) and not pytree.tree_any(lambda x: x > 2, [1, 2])
    paths = {pytree.keystr(path): leaf for path, leaf in pytree.tree_leaves_with_path(NEST)}
    assert paths["['b'][1][0]"] == 2 and paths["['a'].x"] == 4
    assert pytree.key_get(NEST, pytree.tree_leaves_with_path(NEST)[1][0]) == 2


def test_nests_that_do_not_fit():
    with pytest.raises(ValueError, match="length 1 but the spec refers to a pytree that holds 2"):
        pytree.tree_unflatten([1], pytree.tree_structure([1, 2]))
    with pytest.raises(ValueError, match="Type mismatch"):
        pytree.tree_map(lambda a, b: a, [1], (1,))
    with pytest.raises(ValueError, match="context mismatch"):
        pytree.tree_map(lambda a, b: a, {"a": 1}, {"b": 1})


def test_registered_nodes():
    class Pair:
        def __init__(self, first, second):
            self.parts = first, second
    pytree.register_pytree_node(Pair, lambda p: (list(p.parts), None), lambda parts, _: Pair(*parts))
    assert pytree.tree_map(lambda v: v + 1, Pair(1, [2])).parts == (2, [3])
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(Pair, None, None)
    with pytest.raises(ValueError, match="flatten_with_keys_fn"):
        pytree.tree_leaves_with_path(Pair(1, 2))


@pytest.mark.parametrize("a, b, message", [
    (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 2.5, 3.0]), r"Mismatched elements: 1 / 3 \(33.3%\)\nGreatest absolute "
     r"difference: 0.5 at index \(1,\) \(up to 1e-05 allowed\)\nGreatest relative difference: 0.2 at"),
    (torch.ones(2), torch.ones(3), "attribute 'shape' do not match"), (torch.ones(1), torch.ones(1).double(), "attribute 'dtype'"),
    (1.0, 1.1, "Expected 1.1 but got 1.0"), ({"a": 1}, {"b": 1}, "keys of the mappings"), ([1, 2], [1], "length of the sequences"),
    ([torch.ones(1), torch.ones(1)], [torch.ones(1), torch.zeros(1)], r"occurred for item \[1\]"),
    (torch.tensor(float("nan")), torch.tensor(float("nan")), "Scalars are not close"), (torch.tensor([1]), torch.tensor([2]), "not equal"),
    (1, 1.0, "types do not match: <class 'int'> != <class 'float'>"), ([1, 2], [1.0, 2.0], r"types do not match.*\n\n.*item \[0\]"),
    (True, 1, "types do not match"), (1, True, "types do not match"), (1 + 0j, 1.0, "types do not match"), (True, False, "Booleans mismatch"),
    (None, 1, "None mismatch: None is not 1"), (torch.ones(1), None, "None mismatch"), (2**62, 2**62 + 1, "Scalars are not equal"),
    (10**400, 10**400 + 1, "^"), (torch.tensor([2**62]), torch.tensor([2**62 + 1]), "Greatest absolute difference: 1 at index \\(0,\\)\n"),
    (torch.tensor(2**62), torch.tensor(2**62 + 1), "Absolute difference: 1\n"), (np.int64(1), np.int64(2), "Scalars are not equal"),
    (torch.ones(1, device="meta"), torch.ones(2, device="meta"), "attribute 'shape'"), (torch.tensor([True]), torch.tensor([False]), "equal")])
def test_what_is_not_close(a, b, message):
    with pytest.raises(AssertionError, match=message):
        torch.testing.assert_close(a, b)


def test_what_is_close():
    torch.testing.assert_close(torch.tensor([1.0, float("nan")]), torch.tensor([1.0 + 1e-6, float("nan")]), equal_nan=True)
    torch.testing.assert_close(torch.ones(1), torch.ones(1).double(), check_dtype=False)
    torch.testing.assert_close([1, (2.0,)], [1, (2.0,)])
    torch.testing.assert_close([None, True, range(2)], (None, np.True_, [0, 1]))
    torch.testing.assert_close(1, 1.0, check_dtype=False)
    torch.testing.assert_close(np.float64(1), 1.0)
    torch.testing.assert_close(torch.ones(2, device="meta"), torch.zeros(2, device="meta"))
    torch.testing.assert_close(torch.tensor([2**62]), torch.tensor([2**62]))
    for a, b in ((torch.tensor(1), 1), (torch.tensor([1]), [1]), (np.ones(1), torch.ones(1)), ("a", "a"), (object(), object())):
        with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
            torch.testing.assert_close(a, b)
    torch.testing.assert_close(torch.ones(2), torch.ones(2) * 1.4, rtol=0, atol=0.5)
    with pytest.raises(ValueError, match="no atol"):
        torch.testing.assert_close(1.0, 1.0, rtol=1e-3)
    with pytest.raises(AssertionError, match="^mine$"):
        torch.testing.assert_close(1, 2, msg="mine")
    made = torch.testing.make_tensor(3, 4, dtype=torch.int32, device="cpu", low=2, high=5)
    assert made.dtype is torch.int32 and made.min() >= 2 and made.max() < 5
    assert not torch.testing.make_tensor((3, 4), dtype=torch.float32, device="cpu", noncontiguous=True).is_contiguous()


def test_named_ops():
    @torch.library.custom_op("argand_test::cube", mutates_args=())
    def cube(x: torch.Tensor) -> torch.Tensor:
        return x**3

    def keep(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
    cube.register_autograd(lambda ctx, g: 10 * g * ctx.saved_tensors[0], setup_context=keep)
    x = torch.tensor([2.0], requires_grad=True)
    torch.ops.argand_test.cube(x).sum().backward()
    assert x.grad.tolist() == [20]  # the registered gradient, not that of x ** 3
    assert not hasattr(torch.ops.argand_test, "square") and callable(torch.library.register_fake("argand_test::cube"))
    with pytest.raises(RuntimeError, match="operator argand_test::square does not exist"):
        torch.library.register_autograd("argand_test::square", None)
    with pytest.raises(OSError, match="/nowhere/_C.so: cannot open shared object file"):
        torch.ops.load_library("/nowhere/_C.so")


def test_calls_of_custom_ops_are_compared_with_the_schema():
    def scaled(x: torch.Tensor, n: int, by: float = 1.0) -> torch.Tensor:
        return x * n * by
    op = torch.library.custom_op("argand_test::scaled", scaled, mutates_args=())
    x = torch.ones(2)
    assert op(x, 2).tolist() == op(x, n=torch.tensor(2)).tolist() == op(x, by=1, n=2).tolist() == [2, 2]
    for call, says in ((lambda: op(x, 2.5), "Expected a value of type 'int' for argument 'n' but instead found type 'float'"),
                       (lambda: op(x, "a"), "argument 'n' but instead found type 'str'"), (lambda: op(x, None), "found type 'NoneType'"),
                       (lambda: op(1, 1), "type 'Tensor' for argument 'x'"), (lambda: op(x), "is missing value for argument 'n'"),
                       (lambda: op(x, 1, 2, 3), "expected at most 3"), (lambda: op(x, 1, q=2), "Unknown keyword argument 'q'")):
        with pytest.raises(RuntimeError, match=re.escape(says)):
            call()
    with pytest.raises(RuntimeError, match="There was no fake impl registered"):
        op(x.to("meta"), 1)
    for name, function in (("same", lambda x: x), ("part", lambda x: x[:1]), ("twice", lambda x: (lambda y: [y, y])(x * 2))):
        shares = torch.library.custom_op(f"argand_test::shares_{name}", function, mutates_args=(),
                                         schema="(Tensor x) -> Tensor" + "[]" * (name == "twice"))
        with pytest.raises(RuntimeError, match="must not also be an input"):
            shares(x)
    with pytest.raises(RuntimeError, match="only the operator name was given"):
        torch.library.custom_op("argand_test::garbage", scaled, mutates_args=(), schema="garbage")
    required = torch.library.custom_op("argand_test::required", lambda x, y=3: x * y, mutates_args=(), schema="(Tensor x, int y) -> Tensor")
    with pytest.raises(RuntimeError, match="is missing value for argument 'y'"):
        required(x)


def test_custom_ops_without_a_gradient_say_so_in_backward():
    modes = []

    def double(x: torch.Tensor) -> torch.Tensor:
        modes.append(torch.is_grad_enabled())
        return torch.from_numpy(x.numpy() * 2)
    op = torch.library.custom_op("argand_test::double_in_numpy", double, mutates_args=())
    x = torch.ones(2, requires_grad=True)
    y = op(x)
    assert y.requires_grad and modes == [False] and type(y.grad_fn).__name__ == "GeneratedBackwardFor_argand_test_double_in_numpy_defaultBackward"
    with pytest.raises(RuntimeError, match="Trying to backward through argand_test.double_in_numpy.default but no autograd formula"):
        (y + x).sum().backward()
    assert not op(x.detach()).requires_grad
    with torch.no_grad():
        assert not op(x).requires_grad

    def change(x: torch.Tensor) -> None:
        x.add_(1)
    changes = torch.library.custom_op("argand_test::changes", change, mutates_args=("x",))
    with pytest.raises(RuntimeError, match="non-functional operator"):
        changes.register_autograd(lambda ctx: None)


def test_custom_ops_mean_what_they_declare():
    """Which arguments change, which devices there are, what the schema and the tags are, what "meta" gives: as in PyTorch 2.15."""
    def add_one(x: torch.Tensor) -> None:
        x.detach().numpy()[...] += 1
    said = torch.library.custom_op("argand_test::said", add_one, mutates_args=("x",))
    kept_quiet = torch.library.custom_op("argand_test::kept_quiet", add_one, mutates_args=())
    x = torch.ones(2, requires_grad=True)
    for op, changed in ((said, True), (kept_quiet, False)):
        y = x * 1
        loss = (y * y).sum()
        op(y)
        if changed:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                loss.backward()
        assert y.tolist() == [2, 2]
    assert str(said._schema) == "argand_test::said(Tensor(a0!) x) -> ()" and said.tags == (torch.Tag.pt2_compliant_tag,)

    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2
    for mutates, text in (("x", "mutates_args: expected names"), (("y",), "not found in the custom op's signature")):
        with pytest.raises(ValueError, match=text):
            torch.library.custom_op("argand_test::wrong", double, mutates_args=mutates)
    with pytest.raises(ValueError, match="expected the same names in both"):
        torch.library.custom_op("argand_test::wrong", double, mutates_args=("x",), schema="(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="unsupported type"):
        torch.library.custom_op("argand_test::wrong", lambda x: x, mutates_args=())
    assert torch.library.custom_op("argand_test::free", lambda x: x * 2, mutates_args=(), schema="(Tensor x) -> Tensor")(x).sum() == 4
    with pytest.raises(NotImplementedError, match="Could not run 'argand_test::gpu' with arguments from the 'CPU' backend"):
        torch.library.custom_op("argand_test::gpu", double, mutates_args=(), device_types="cuda")(x)
    assert torch.library.custom_op("argand_test::cpu", double, mutates_args=(), device_types=["cpu"])(x).sum() == 4
    torch.library.custom_op("argand_test::tagged", double, mutates_args=(), tags=torch.Tag.pointwise)
    assert torch.ops.argand_test.tagged.default.tags == (torch.Tag.pt2_compliant_tag, torch.Tag.pointwise)
    torch.library.define("argand_test::declared", "(Tensor x) -> Tensor", tags=(torch.Tag.pointwise,))
    assert torch.ops.argand_test.declared.tags == (torch.Tag.pointwise,)
    with pytest.raises(TypeError, match="expected torch.Tag, got str"):
        torch.library.define("argand_test::wrong", "(Tensor x) -> Tensor", tags=("pointwise",))

    torch.library.register_fake("argand_test::later", lambda x: x.new_empty((*x.shape, 3)))
    later = torch.library.custom_op("argand_test::later", double, mutates_args=())
    assert later(torch.ones(2, device="meta")).shape == (2, 3) and later(torch.ones(2)).shape == (2,)
    assert torch.ops.aten._to_copy(torch.ones(2), layout=torch.strided, dtype=torch.float64).dtype is torch.float64
    with pytest.raises(NotImplementedError, match="layout: expected torch.strided"):
        torch.ops.aten._to_copy(torch.ones(2), layout=torch.sparse_coo)


@pytest.mark.parametrize("first, then", [("cpu", "default"), ("default", "cpu")])
def test_functions_of_named_ops_are_chosen_by_device(first, then):
    """The one for the device, in whatever order they were given."""
    name = f"argand_test::chosen_{first}"
    torch.library.define(name, "(Tensor x) -> str")
    with pytest.raises(NotImplementedError, match=f"Could not run '{name}' with arguments from the 'CPU' backend"):
        torch.library._ops[name](torch.ones(1))
    for kind in (first, then):
        torch.library.impl(name, kind, lambda x, kind=kind: kind)
    op = torch.library._ops[name]
    assert op(torch.ones(1)) == "cpu" and op(torch.ones(1, device="meta")) == "default"
    assert op(x=torch.ones(1)) == "cpu"


def test_ops_of_a_library_by_decorators():
    library = torch.library.Library("argand_decorated", "DEF")

    @torch.library.define(library, "twice(Tensor x) -> Tensor")
    def twice(x):
        return 2 * x

    @torch.library.impl(library, "twice", "Meta")
    def twice_meta(x):
        return torch.empty_like(x)
    assert torch.ops.argand_decorated.twice(torch.ones(1)).item() == 2
    assert torch.ops.argand_decorated.twice(torch.ones(1, device="meta")).device.type == "meta"
    library.define("twice.out(Tensor x, *, Tensor(a!) out) -> ()")
    library.impl("twice.out", lambda x, *, out: out.copy_(2 * x), "CPU")
    library.define("thrice.out(Tensor x, *, Tensor(a!) out) -> ()")
    out = torch.zeros(1)
    torch.ops.argand_decorated.twice.out(torch.ones(1), out=out)
    assert out.item() == 2 and not hasattr(torch.ops.argand_decorated.twice, "other")
    assert copy.deepcopy(torch.ops.argand_decorated.twice)(torch.ones(1)).item() == 2  # as a module that keeps it is
    with pytest.raises(NotImplementedError, match="Could not run 'argand_decorated::thrice.out'"):
        torch.ops.argand_decorated.thrice.out(torch.ones(1), out=out)
    for name, schema, error in (("op", "()->()", ValueError), ("a::b", "no schema", ValueError), ("aten::mine", "() -> ()", NotImplementedError)):
        with pytest.raises(error, match="torch.library.define"):
            torch.library.define(name, schema)


def test_ops_by_their_names_in_aten():
    assert torch.ops.aten.add.Tensor(torch.ones(1), 2).item() == 3 and torch.ops.aten.item(torch.ones(1)) == 1
    for name in ("manual_seed", "is_tensor", "register_hook", "from_numpy"):  # are no ops
        with pytest.raises(AttributeError, match=name):
            getattr(torch.ops.aten, name)


def test_files_from_the_net_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert torch.hub.get_dir() == str(tmp_path / "hub")
    source = tmp_path / "weights-00000000.pt"
    torch.save({"w": torch.arange(3)}, source)
    state = torch.hub.load_state_dict_from_url(source.as_uri(), progress=False)
    assert state["w"].tolist() == [0, 1, 2] and (tmp_path / "hub/checkpoints" / source.name).exists()
    with pytest.raises(RuntimeError, match='expected "00000000"'):
        torch.hub.load_state_dict_from_url(source.as_uri(), str(tmp_path / "other"), progress=False, check_hash=True)
    assert list((tmp_path / "other").iterdir()) == []
    (tmp_path / "hubconf.py").write_text("def three(n=1):\n    'Threes.'\n    return [3] * n\n")
    assert torch.hub.load(str(tmp_path), "three", 2, source="local") == [3, 3]
    assert "three" in torch.hub.list(str(tmp_path), source="local")
    with pytest.raises(NotImplementedError, match="source='local'"):
        torch.hub.load("owner/repository", "model")


def test_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import argand.multiprocessing as mp, pathlib, sys\n"
                      "def work(rank, folder):\n"
                      "    pathlib.Path(folder, str(rank)).write_text('done')\n"
                      "    if rank == 5:\n"
                      "        raise ValueError('five')\n"
                      "if __name__ == '__main__':\n"
                      "    mp.spawn(work, (sys.argv[1],), nprocs=2)\n"
                      "    try:\n"
                      "        mp.start_processes(work, (sys.argv[1],), nprocs=6, start_method='fork')\n"
                      "    except mp.ProcessRaisedException as error:\n"
                      "        print(error.error_index, 'ValueError: five' in str(error))\n")
    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "5 True\n", done.stderr
    assert pathlib.Path(tmp_path, "0").read_text() == pathlib.Path(tmp_path, "1").read_text() == "done"


def test_devices_that_programs_ask_for():
    assert not torch.mps.is_available() and torch.cpu.is_available() and torch.cpu.current_device() == "cpu"
    with torch.cpu.stream(None):
        torch.cpu.synchronize()


def test_dlpack_by_capsules():
    from argand.utils import dlpack
    x = torch.arange(6.0).view(2, 3)
    y = dlpack.from_dlpack(dlpack.to_dlpack(x))
    y[0, 0] = 7
    assert x[0, 0] == 7 and y.shape == (2, 3)


def test_map_and_record_stream():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.map_(torch.tensor([10.0, 20.0]), lambda a, b: a * b).tolist() == [[10, 40], [30, 80]]
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.ones(2, requires_grad=True).map_(x[0], max)
    with pytest.raises(RuntimeError, match="expected a tensor on a GPU, got one on cpu"):
        x.record_stream(None)


def test_shapes_of_nests_as_texts():
    """The text is PyTorch's."""
    spec = pytree.tree_structure([1, (2, {"a": 3}), collections.OrderedDict(q=1), collections.deque([1], maxlen=3),
                                  collections.defaultdict(int, a=1)])
    leaf = '{"type": null, "context": null, "children_spec": []}'
    text = ('[1, {"type": "builtins.list", "context": "null", "children_spec": [LEAF, {"type": "builtins.tuple", "context": "null", '
            '"children_spec": [LEAF, {"type": "builtins.dict", "context": "[\\"a\\"]", "children_spec": [LEAF]}]}, {"type": '
            '"collections.OrderedDict", "context": "[\\"q\\"]", "children_spec": [LEAF]}, {"type": "collections.deque", "context": "3", '
            '"children_spec": [LEAF]}, {"type": "collections.defaultdict", "context": {"default_factory_module": "builtins", '
            '"default_factory_name": "int", "dict_context": ["a"]}, "children_spec": [LEAF]}]}]').replace("LEAF", leaf)
    assert pytree.treespec_dumps(spec) == text and pytree.treespec_loads(text) == spec
    assert pytree.treespec_pprint(pytree.tree_structure([1, (2,)])) == "[*, (*,)]"
    with pytest.raises(NotImplementedError, match="_register_namedtuple"):
        pytree.treespec_dumps(pytree.tree_structure(Point(1, 2)))
    pytree._register_namedtuple(Point, serialized_type_name="Point")
    assert pytree.treespec_loads(pytree.treespec_dumps(pytree.tree_structure(Point(1, 2)))) == pytree.tree_structure(Point(1, 2))
    with pytest.raises(ValueError, match="os.system"):
        pytree.treespec_loads(text.replace('"builtins", "default_factory_name": "int"', '"os", "default_factory_name": "system"'))


def test_dataclasses_and_results_are_nodes():
    @dataclasses.dataclass
    class Batch:
        x: int
        y: int
        z: int = None
    pytree.register_dataclass(Batch)
    assert pytree.tree_map(lambda v: v + 1, Batch(1, [2])) == Batch(2, [3])
    assert [pytree.keystr(k) for k, _ in pytree.tree_leaves_with_path(Batch(1, [2]))] == [".x", ".y[0]"]
    found = pytree.tree_map(lambda t: t + 1, torch.max(torch.tensor([[1.0, 3.0]]), 1))
    assert found.values.tolist() == [4] and found.indices.tolist() == [2] and pytree.is_structseq(found)
    assert not pytree.is_structseq(Point(1, 2)) and pytree._get_node_type(Point(1, 2)) is collections.namedtuple
    assert pytree._get_node_type(Point(1, 2)) in pytree.SUPPORTED_NODES and pytree._get_node_type(3) not in pytree.SUPPORTED_NODES


def test_leaves_of_some_types_and_for_all_places():
    assert pytree.tree_any_only(int, lambda v: v > 1, [1, 2]) and not pytree.tree_any_only(int, lambda v: v > 1, [1, 2.5])
    assert pytree.tree_all_only(int, lambda v: v == 1, [1, 2.5]) and not pytree.tree_all_only(int, lambda v: v == 1, [1, 2])
    assert pytree.tree_map_only(int | float, str, [1, "a", 2.0]) == ["1", "a", "2.0"]
    assert pytree.arg_tree_leaves([1], a=(2,)) == [1, 2]
    spec = pytree.tree_structure([0, ([1, 2],)])
    assert pytree._broadcast_to_and_flatten([1, (2,)], spec) == [1, 2, 2] and pytree._broadcast_to_and_flatten([1], spec) is None


def test_dictionaries_by_identity():
    first, second = torch.ones(2), torch.ones(2)
    d = WeakIdKeyDictionary({first: 1})
    d[second] = 2
    assert len(d) == 2 and d[first] == 1 and d[second] == 2 and torch.ones(2) not in d and d == d.copy()
    del second
    assert list(d.values()) == [1] and next(iter(d)) is first
    assert d.pop(first) == 1 and d.get(first) is None
    ref = WeakIdRef(first)
    assert ref() is first and ref == WeakIdRef(first) and ref != WeakIdRef(torch.ones(2))
    del first
    assert ref() is None


def test_tensors_in_one():
    parts = [torch.arange(6.0).reshape(2, 3), torch.tensor(7.0)]
    flat = _utils._flatten_dense_tensors(parts)
    assert flat.tolist() == [0, 1, 2, 3, 4, 5, 7]
    back = _utils._unflatten_dense_tensors(flat, parts)
    torch.testing.assert_close(list(back), parts)
    back[0].zero_()
    assert flat[:6].sum() == 0  # views
    lists = list(_utils._take_tensors([torch.ones(2), torch.ones(3, dtype=torch.int64), torch.ones(1), torch.ones(1)], 12))
    assert [[t.numel() for t in ts] for ts in lists] == [[2, 1], [1], [3]]


def test_exceptions_that_travel():
    try:
        {}["lost"]
    except KeyError:
        wrapped = _utils.ExceptionWrapper(where="in worker 3")
    with pytest.raises(KeyError, match="(?s)Caught KeyError in worker 3.*lost"):
        wrapped.reraise()


def test_context_managers_that_decorate():
    log = []

    class Scope(_DecoratorContextManager):
        def __enter__(self):
            log.append("in")

        def __exit__(self, *_):
            log.append("out")

    @Scope()
    def numbers():
        log.append("a")
        got = yield 1
        log.append(got)
        yield 2
    running = numbers()
    assert next(running) == 1 and log == ["in", "a", "out"]
    assert running.send("b") == 2 and log[3:] == ["in", "b", "out"]
    assert Scope()(lambda x: x + 1)(1) == 2 and log[6:] == ["in", "out"]


def test_flops_by_module():
    from argand.utils.flop_counter import FlopCounterMode
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    with FlopCounterMode(display=False) as counter:
        (model(torch.randn(3, 4)) * 2).sum().backward()
    counts = counter.get_flop_counts()
    assert counter.get_total_flops() == 672  # PyTorch 2.15's, whose linear is addmm
    assert {place: sum(ops.values()) for place, ops in counts.items()} == {
        "Global": 672, "Sequential": 288, "Sequential.0": 192, "Sequential.2": 96}
    assert counter.get_table(depth=1).splitlines()[2].split() == ["Global", "672", "100.00%"]
    assert "Sequential.0" not in counter.get_table(depth=1) and "Sequential.0" in counter.get_table()


def _conv(dim, groups=1, transposed=False):
    x = torch.ones(2, 4, *(6,) * dim, requires_grad=True)
    w = torch.ones(*(4, 3) if transposed else (4, 4 // groups), *(3,) * dim, requires_grad=True)
    kind = "_transpose" if transposed else ""
    return getattr(torch.nn.functional, f"conv{kind}{dim}d")(x, w, groups=groups)


def _attention():
    q = torch.ones(1, 2, 16, 16, requires_grad=True)
    return torch.nn.functional.scaled_dot_product_attention(q, q, q)


@pytest.mark.parametrize("program, forward, total", [  # PyTorch 2.15's numbers
    (_attention, 32768, 114688), (lambda: _conv(1, transposed=True), 864, 2592), (lambda: _conv(2, transposed=True), 15552, 46656),
    (lambda: _conv(2), 9216, 27648), (lambda: _conv(2, groups=2), 4608, 18432)])
def test_flops_of_ops_and_their_gradients(program, forward, total):
    from argand.utils.flop_counter import FlopCounterMode
    with FlopCounterMode(display=False) as counter:
        out = program()
    assert counter.get_total_flops() == forward
    with FlopCounterMode(display=False) as counter:
        program().sum().backward()
    assert counter.get_total_flops() == total and out.requires_grad


def test_counting_within_a_profile_leaves_no_hooks():
    from argand.nn.modules import module
    from argand.utils.flop_counter import FlopCounterMode
    before = len(module._global_forward_pre_hooks), len(module._global_forward_hooks)
    with torch.autograd.profiler.profile(), pytest.raises(RuntimeError, match="already enabled"):
        FlopCounterMode(display=False).__enter__()
    assert (len(module._global_forward_pre_hooks), len(module._global_forward_hooks)) == before


def test_a_device_is_a_scope():
    with torch.device("meta"):
        assert torch.ones(2).device.type == "meta"
        with torch.device("cpu"):
            assert torch.ones(2).device.type == "cpu"
        assert torch.nn.Linear(2, 2).weight.device.type == "meta"
        with pytest.raises(ZeroDivisionError), torch.device("cpu"):
            1 / 0
        assert torch.empty(2).device.type == "meta" and torch.empty(2, device="cpu").device.type == "cpu"
    assert torch.ones(2).device.type == "cpu"


def test_names_that_are_loaded_late_are_those_that_are_meant():
    assert torch.cuda.nccl.is_available() is False and torch.cuda.CudaError is torch.cuda.AcceleratorError
    assert torch.compiler.set_stance and torch.jit.Future and torch.serialization.FILE_LIKE
    for module in (torch.cuda, torch.compiler, torch.jit, torch.serialization, torch.distributed, torch.types):
        for name in ("refused", "index_of", "_name", "typed_tensor"):
            assert not hasattr(module, name)


@pytest.mark.parametrize("make, name", [
    (lambda: torch.distributed.tensor.DTensor(), "torch.distributed.tensor.DTensor"),
    (lambda: torch.distributed.fsdp.FullyShardedDataParallel(torch.nn.Linear(1, 1)), "torch.distributed.fsdp.FullyShardedDataParallel"),
    (lambda: torch.optim.SparseAdam([torch.ones(1)]), "torch.optim.sparse_adam.SparseAdam"),
    (lambda: torch.SymInt(3), "torch.SymInt")])
def test_what_means_nothing_here_says_so(make, name):
    with pytest.raises(NotImplementedError, match=f"^{name}: "):
        make()
    assert issubclass(torch.optim.SparseAdam, torch.optim.Optimizer)


def test_options_of_printing_by_their_other_name():
    from argand._torch._tensor_str import PRINT_OPTS
    before = PRINT_OPTS.precision
    try:
        torch.set_printoptions(precision=2)
        assert PRINT_OPTS.precision == 2
        PRINT_OPTS.precision = 3
        assert repr(torch.tensor(1 / 3)) == "tensor(0.333)"
    finally:
        torch.set_printoptions(precision=before)


def test_the_switch_of_checks_of_sparse_tensors_is_kept_and_given_back():
    switch = torch.sparse.check_sparse_tensor_invariants
    assert not switch.is_enabled()
    with switch():
        assert switch.is_enabled()
        with switch(enable=False):
            assert not switch.is_enabled()
        assert switch.is_enabled()
    assert not switch.is_enabled()
    assert switch()(switch.is_enabled)() and not switch.is_enabled()
    switch.enable()
    assert switch.is_enabled()
    switch.disable()
    assert not switch.is_enabled()


@pytest.mark.parametrize("draw, name", [(lambda: torch.empty(3).random_(5, 5), "random_"), (lambda: torch.randint(5, 5, (3,)), "randint")])
def test_an_empty_range_is_refused_in_the_words_that_programs_match(draw, name):
    with pytest.raises(RuntimeError, match=f"{name} expects 'from' to be less than 'to', but got from=5 >= to=5"):
        draw()


def test_a_device_decorates_functions_that_make_tensors():
    @torch.device("meta")
    def one():
        return torch.empty(2)

    @torch.device("meta")
    def several():
        yield torch.empty(2)
        yield torch.empty(3)
    assert one().device.type == "meta" and [t.device.type for t in several()] == ["meta", "meta"] and torch.empty(1).is_cpu
    saved = io.BytesIO()
    torch.save(torch.ones(2), saved)
    saved.seek(0)
    assert torch.load(saved, map_location=torch.device("cpu")).tolist() == [1, 1]


def test_nests_have_the_shapes_and_texts_of_pytorchs():
    import collections
    import enum
    import json

    Point = collections.namedtuple("Point", "x y")
    nest = [Point(1, {"a": 2}), collections.defaultdict(list, k=3), ()]
    leaves, spec = pytree.tree_flatten(nest)
    assert repr(spec) == (f"TreeSpec(list, None, [TreeSpec(namedtuple, {Point}, [*,\n    TreeSpec(dict, ['a'], [*])]),\n"
                          "  TreeSpec(defaultdict, [<class 'list'>, ['k']], [*]),\n  TreeSpec(tuple, None, [])])")
    assert spec.children_specs[0].type is collections.namedtuple and spec.unflatten(leaves) == nest
    assert pytree.tree_map(lambda a, b: a + b, nest, nest)[0] == Point(2, {"a": 4})
    with pytest.raises(NotImplementedError, match="Please register using `_register_namedtuple`"):
        pytree.treespec_dumps(spec)
    pytree._register_namedtuple(Point, serialized_type_name="test.Point")
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec

    class Colour(enum.Enum):
        RED = 1
    globals()["Colour"], Colour.__qualname__ = Colour, "Colour"
    text = pytree.treespec_dumps(pytree.tree_structure({Colour.RED: 0}))
    assert json.loads(json.loads(text)[1]["context"]) == [{"__enum__": True, "fqn": f"{__name__}:Colour", "name": "RED"}]
    assert pytree.treespec_loads(text).context == [Colour.RED]
    for other in ("os:path", "not_loaded_at_all:Colour"):
        with pytest.raises(ValueError, match="no enum of a module that is loaded"):
            pytree.treespec_loads(text.replace(f"{__name__}:Colour", other))

    class Node:
        pass
    how = lambda node: ([], None), lambda children, context: Node()  # noqa: E731
    with pytest.raises(ValueError, match="Both to_dumpable_context and from_dumpable_context"):
        pytree.register_pytree_node(Node, *how, serialized_type_name="n", to_dumpable_context=str)
    with pytest.warns(FutureWarning, match="_register_pytree_node` is deprecated"):
        pytree._register_pytree_node(Node, *how)
    with pytest.warns(UserWarning, match="already registered"):
        pytree._private_register_pytree_node(Node, *how)
    with pytest.raises(NotImplementedError, match="No registered serialization name"):
        pytree.treespec_dumps(pytree.tree_structure(Node()))
