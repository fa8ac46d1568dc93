"""Small good files of each format for the fuzzers.  The first byte of an input is an option of its target."""
import gzip
import io
import json
import pathlib
import struct
import sys
import tarfile
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def torch_file():
    """Whole files, and their pickles alone."""
    for path in sorted((ROOT / "tests/data/checkpoints").glob("*.pt")):
        yield b"\0" + path.read_bytes()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                pickles = [n for n in archive.namelist() if n.endswith("/data.pkl")]
                yield b"\1" + archive.read(pickles[0])
    # Pickles over the storages that the target puts into its archive: 16 bytes each.
    def number(value):
        return b"\x8a\x08" + struct.pack("<q", value)

    def text_of(value):
        return b"X" + struct.pack("<I", len(value)) + value

    def tensor(kind, numel, sizes, strides, name=b"_rebuild_tensor_v2", behind=b""):
        storage = b"(" + text_of(b"storage") + b"ctorch\n" + kind + b"\n" + text_of(b"0") + text_of(b"cpu") + number(numel) + b"tQ"
        shape = b"(" + b"".join(map(number, sizes)) + b"t(" + b"".join(map(number, strides)) + b"t"
        return b"ctorch._utils\n" + name + b"\n(" + storage + number(0) + shape + b"\x89ccollections\nOrderedDict\n)R" + behind + b"tR"

    def bytes_of(value):
        return b"c_codecs\nencode\n" + text_of(value) + text_of(b"latin1") + b"\x86R"

    def numpy_dtype(code, order, size):
        return b"cnumpy\ndtype\n" + text_of(code) + b"\x89\x88\x87R(K\3" + text_of(order) + b"NNN" + number(size) * 2 + b"K\0tb"

    no_array = b"cnumpy\nndarray\nK\0\x85" + bytes_of(b"b") + b"\x87R"
    one = struct.pack(">d", 1)
    float32 = tensor(b"FloatStorage", 4, (2, 2), (2, 1))
    for body in (
            float32, tensor(b"LongStorage", 2, (2,), (1,)), tensor(b"BoolStorage", 16, (4, 3), (3, 1)), tensor(b"HalfStorage", 8, (0, 3), (3, 1)),
            tensor(b"ComplexFloatStorage", 2, (2,), (1,), behind=b"}" + text_of(b"conj") + b"\x88s"),
            tensor(b"UntypedStorage", 16, (2,), (1,), b"_rebuild_tensor_v3", b"ctorch\nint16\n"),
            b"}q\0(" + text_of(b"w") + float32 + b"q\1" + text_of(b"again") + b"h\1u",
            b"ctorch._utils\n_rebuild_parameter\n(" + float32 + b"\x88ccollections\nOrderedDict\n)RtR",
            b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat16\n(K\2K\3t(K\3K\1t\x89tR",
            b"c__builtin__\nset\n](K\1G" + one + text_of(b"a") + b"e\x85R", b"c__builtin__\ncomplex\nG" + one + b"K\2\x86R",
            b"ctorch\nSize\n(K\1K\2t\x85R", b"ctorch\ndevice\n" + text_of(b"cuda") + b"K\1\x86R",
            b"c_codecs\nencode\n" + text_of(b"\xc3\xa9") + text_of(b"latin1") + b"\x86R",
            b"ccollections\ndefaultdict\nc__builtin__\nint\n\x85R", b"c__builtin__\nslice\n(NK\1NtR",
            b"c__builtin__\nfrozenset\n](K\1K\2e\x85R", b"\x8a\x0b" + bytes(range(11)),
            b"cnumpy._core.multiarray\n_reconstruct\n" + no_array + b"(K\1K\2\x85" + numpy_dtype(b"u2", b">", -1) + b"\x89" + bytes_of(b"abcd") + b"tb",
            b"cnumpy.core.multiarray\n_reconstruct\n" + no_array + b"(K\1K\2K\0\x86" + numpy_dtype(b"b1", b"|", -1) + b"\x88" + bytes_of(b"") + b"tb",
            b"cnumpy._core.multiarray\nscalar\n" + numpy_dtype(b"U1", b"<", 4) + bytes_of(b"a\0\0\0") + b"\x86R", numpy_dtype(b"S3", b"|", 3),
            b"ccollections\nOrderedDict\n)R(" + text_of(b"a") + b"K\1u}" + text_of(b"_metadata") + b"}sb"):
        yield b"\1\x80\2" + body + b"."
    yield b"\1\x80\2c__torch__.M\nN\n)\x81}" + text_of(b"x") + b"K\1sb.!"


def safetensors():
    """Whole files, and without the length before the header."""
    header = {"__metadata__": {"k": "v\u00e9"}, "a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]},
              "b": {"dtype": "BOOL", "shape": [3], "data_offsets": [8, 11]}, "c": {"dtype": "I64", "shape": [0, 3], "data_offsets": [11, 11]}}
    for part in ({}, {"a": header["a"]}, header):
        text = json.dumps(part).encode()
        data = bytes(max([entry["data_offsets"][1] for name, entry in part.items() if name != "__metadata__"], default=0))
        yield b"\0" + struct.pack("<Q", len(text)) + text + data
        yield b"\1" + text + data
    sums = {"argand.crc32:a": f"U8 2 {zlib.crc32(bytes((1, 2))):08x}", "argand.crc32:b": "F32 0,3 00000000"}
    text = json.dumps({"__metadata__": sums, "a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
                       "b": {"dtype": "F32", "shape": [0, 3], "data_offsets": [2, 2]}}).encode()
    yield b"\1" + text + b"\1\2"


def idx():
    """A file of each element type, plain and compressed."""
    for kind, width in ((8, 1), (9, 1), (0xb, 2), (0xc, 4), (0xd, 4), (0xe, 8)):
        data = bytes((0, 0, kind, 2)) + struct.pack(">II", 2, 3) + bytes(range(6 * width))
        yield from (b"\0" + data, b"\1" + data, b"\0" + gzip.compress(data, mtime=0))


def cifar():
    """One record of each version, and labels alone."""
    yield from (b"\0" + bytes(3073), b"\1" + bytes(3074), b"\2\1\2\3", b"\3\1\2\3")


def csv():
    """Tables with quotes, line breaks in fields, and other delimiters."""
    yield from (b"\0a,\"b\"\"\n\"\r\n1,2\n", b"\1a,b\n1,2", b"\2a;b\r\n1;2\r\n", b"\x04\xef\xbb\xbfa\tb\n\xc3\xa9\t2\n", b"\0a,b\n,\n")


def text():
    """Characters of one to four bytes."""
    yield b"\0" + "a\u00e9\u20ac\U0001f642".encode()


def tar():
    """Each kind of header, long names and directories."""
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        for names in (("c.txt",), ("a/" * 60 + "b" * 80 + ".txt", "c.txt")):
            buffer = io.BytesIO()
            with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
                folder = tarfile.TarInfo("d")
                folder.type = tarfile.DIRTYPE
                archive.addfile(folder)
                for name in names:
                    info = tarfile.TarInfo(name)
                    info.size = 3
                    archive.addfile(info, io.BytesIO(b"abc"))
            yield b"\0" + buffer.getvalue().rstrip(b"\0") + bytes(1536)
    pax = b"12 path=a/b\n10 size=3\n"
    blocks = b""
    for name, kind, data in ((b"p", b"x", pax), (b"f", b"0", b"abc")):
        head = name.ljust(100, b"\0") + b"0000644\0" * 3 + b"%011o\0" % len(data) + b"0" * 11 + b"\0" + b" " * 8 + kind
        blocks += (head.ljust(257, b"\0") + b"ustar\00000").ljust(512, b"\0") + data.ljust(512, b"\0")
    yield b"\0" + blocks + bytes(1024)


def png():
    """Each colour type and depth; whole files, without checksums (1), and without compression (2)."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    for colour, depths, samples in ((0, (1, 2, 4, 8, 16), 1), (2, (8, 16), 3), (3, (1, 2, 4, 8), 1), (4, (8, 16), 2), (6, (8, 16), 4)):
        for depth in depths:
            for interlaced in (0, 1):
                row = (samples * depth * 2 + 7) // 8
                one = (samples * depth + 7) // 8
                # Two by two pixels; interlaced they are three passes.
                raw = bytes(2 * (1 + row)) if not interlaced else bytes(1 + one + 1 + one + 1 + row)
                head = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, depth, colour, 0, 0, interlaced))
                middle = chunk(b"PLTE", bytes(range(6))) + chunk(b"tRNS", b"\x7f") if colour == 3 else b""
                if colour == 0:
                    middle = chunk(b"tEXt", b"a\0b") + chunk(b"tRNS", b"\0\1")
                end = chunk(b"IEND", b"")
                yield b"\0" + head + middle + chunk(b"IDAT", zlib.compress(raw)) + end
                yield b"\1" + head + middle + chunk(b"IDAT", raw) + end


def jpeg():
    """Baseline; images of libjpeg with colours, restarts and progressive scans are in the kept corpus."""
    sys.path.insert(0, str(ROOT / "tests/cli"))
    from harness import jpeg as gray
    whole = gray([10, 200, 90])
    yield b"\0" + whole


def store_wire():
    """Requests, replies, and streams of several clients' requests."""
    def texts(items):
        return struct.pack("<I", len(items)) + b"".join(struct.pack("<I", len(item)) + item for item in items)

    def request(op, keys=(), values=(), number=0, timeout=0):
        return struct.pack("<Bqq", op, number, timeout) + texts(keys) + texts(values)

    def stream(*requests):
        messages = [(client, struct.pack("<I", len(data)) + data) for client, data in requests]
        return b"".join(bytes((client, len(data))) + data for client, data in messages)

    requests = {3: ([b"k"], [b"v"]), 4: ([b"k"], []), 5: ([b"n"], []), 6: ([b"k", b"n"], []), 7: ([b"k", b"l"], []), 8: ([b"n"], []),
                9: ([b"k"], [b"", b"w"]), 10: ([b"k"], []), 11: ([], []), 12: ([], []), 13: ([b"k"], [b"x"]), 14: ([b"k", b"l"], []),
                15: ([b"k", b"l"], [b"1", b"2"]), 16: ([b"q"], [b"v"]), 17: ([b"q"], []), 18: ([b"q"], [])}
    yield b"\0" + request(1, [b"argand-store"], [bytes(32)], 1)
    yield b"\0" + request(2, [], [bytes(32)])
    for op, (keys, values) in requests.items():
        yield b"\0" + request(op, keys, values, 1, 5)
    for status in range(5):
        yield b"\1" + struct.pack("<Bq", status, -1) + texts([b"a", b""][:status])
    waiting = [(0, request(4, [b"k"], timeout=9)), (1, request(17, [b"q"], number=1)), (2, request(7, [b"k", b"l"])), (3, request(3, [b"k"], [b"v"])),
               (3, request(16, [b"q"], [b"v"])), (3, request(10, [b"k"])), (3, request(15, [b"l", b"k"], [b"", b""]))]
    yield b"\2" + stream(*waiting)
    yield b"\2" + stream((0, request(8, [b"n"], number=2)), (1, request(5, [b"n"], number=1)), (1, request(5, [b"n"], number=1)))


def torchscript():
    """Code of archives: each kind of statement and expression."""
    head = b"class M(Module):\n  __parameters__ = [\"w\", ]\n  __buffers__ = []\n  w : Tensor\n  training : bool\n"
    method = b"  def forward(self: __torch__.M,\n    x: Tensor,\n    n: int=1) -> Tensor:\n"
    bodies = [b"    if torch.gt(n, 1):\n      y = torch.relu(x)\n    else:\n      y = x\n    return y\n",
              b"    s = 0\n    while torch.lt(s, n):\n      s += 2\n    for i in range(0, s, 3):\n      x = torch.add_(x, i)\n    return x\n",
              b"    a, (b), = (1, [2., -3e-05])\n    d = {\"k\": a}\n    d[\"l\"] = int(b[0])\n    return annotate(List[int], [a, *b])[1:]\n",
              b"    _0 = __torch__.f\n    def __fork():\n      return _0(x, n=2, )\n    return torch.wait(fork(__fork))\n",
              b"    c = __torch__.C.__new__(__torch__.C)\n    with c as e:\n      (c).__init__(x, )\n    assert n > 0, \"no\"\n    return x if n else e\n",
              b"    p = __torch__.P(x, n)\n    return unchecked_cast(Tensor, getattr(p, \"x\")) if isinstance(p, (int, str)) else uninitialized(Tensor)\n"]
    for body in bodies:
        yield b"\0" + head + method + body
    yield (b"\0def f(x: Tensor, n: Optional[List[int]]=None) -> Tuple[Tensor, Dict[str, float]]:\n  return (x, {})\n"
           b"class P(NamedTuple):\n  x : Tensor\n  n : int = 3\nclass C:\n  __annotations__ = []\n  __annotations__[\"0\"] = Tensor\n"
           b"  k : Final[int] = 3\n  def __init__(self: __torch__.C, x: Any) -> NoneType:\n    self.x = x\n    return None\n")


SEEDS = {make.__name__: make for make in (torch_file, safetensors, idx, cifar, csv, text, tar, png, jpeg, store_wire, torchscript)}
