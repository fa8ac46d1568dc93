"""`argand ckpt`: what checkpoints hold, how they differ, from one format to another, and damage."""
import pathlib
import struct
import zlib

from harness import CliTest, main, read_safetensors, write_safetensors

STORED = pathlib.Path(__file__).resolve().parents[1] / "data" / "checkpoints"


def floats(**tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        end = len(data) + 4 * len(values)
        header[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [len(data), end]}
        data += struct.pack(f"<{len(values)}f", *values)
    return write_safetensors(header, data)


class Ckpt(CliTest):
    def put(self, name, content):
        (self.folder / name).write_bytes(content)
        return self.folder / name

    def good(self, *arguments, status=0):
        result = self.run_cli("ckpt", *arguments)
        self.assertEqual((result.returncode, result.stderr), (status, ""))
        return result.stdout

    def refused(self, *arguments, says):
        self.assert_refused(self.run_cli("ckpt", *arguments), says)

    def test_show(self):
        said = self.good("show", STORED / "values.pt")
        self.assertIn("values.pt: PyTorch, zip, ", said)
        self.assertRegex(said, r"\n  transposed  float32 \[3, 2\]  24 bytes  checksum [0-9a-f]{8}\n")
        self.assertRegex(said, r"\n  row  float32 \[3\]  12 bytes  checksum [0-9a-f]{8}  shares memory with transposed\n")
        self.assertRegex(said, r"\n  parameter  float32 \[3\] .* parameter\n")
        self.assertIn("\n  model  OrderedDict of 5\n    model.weight  float32 [2]", said)
        self.assertIn("\n  int  -5\n", said)
        self.assertIn("\n  meta  float32 [3]  meta\n", said)
        said = self.good("show", self.put("f", floats(a=[1, 2], b=[])))
        self.assertIn(": safetensors, ", said)
        crc = zlib.crc32(struct.pack("<2f", 1, 2))
        self.assertIn(f"\n  a  float32 [2]  8 bytes  checksum {crc:08x}\n  b  float32 [0]  0 bytes", said)
        self.assertIn("\n2 tensors, 8 bytes of elements\n", said)

    def test_diff(self):
        a = self.put("a", floats(same=[1, 2], near=[1, float("nan")], shape=[1], gone=[1]))
        b = self.put("b", floats(same=[1, 2], near=[1.5, float("nan")], shape=[1, 1], new=[1]))
        self.assertEqual(self.good("diff", a, b, status=1).splitlines(), [
            "near: values differ, by 0.5 at most", "shape: float32 [1] and float32 [2]",
            f"gone: only in {a}: float32 [1]", f"new: only in {b}: float32 [1]"])
        self.assertEqual(self.good("diff", a, a), "no differences\n")
        self.assertEqual(self.good("diff", STORED / "values.pt", STORED / "values.pt"), "no differences\n")
        self.assertIn("(all): dict of 4 and float32 [2]\n", self.good("diff", a, STORED / "tensor.pt", status=1))

    def test_convert_there_and_back(self):
        first = self.put("a.safetensors", floats(x=[1, 2, 3], **{"layer.weight": [4]}))
        self.assertEqual(self.good("convert", first, self.folder / "b.pt"), "")
        self.assertEqual((self.folder / "b.pt").read_bytes()[:2], b"PK")
        self.assertEqual(self.good("diff", first, self.folder / "b.pt"), "no differences\n")
        self.assertEqual(self.good("convert", self.folder / "b.pt", self.folder / "c.safetensors"), "")
        names, data = read_safetensors((self.folder / "c.safetensors").read_bytes())
        self.assertEqual((set(names), data), ({"x", "layer.weight"}, struct.pack("<4f", 1, 2, 3, 4)))
        said = self.good("convert", STORED / "legacy.pt", self.folder / "d.safetensors")
        self.assertEqual(said, "b shares memory with a: written once for each\n")
        self.assertEqual(self.good("diff", STORED / "legacy.pt", self.folder / "d.safetensors"), "no differences\n")
        said = self.good("convert", self.put("m.safetensors", write_safetensors({"__metadata__": {"k": "v"}}, b"")),
                         self.folder / "m.pt")
        self.assertEqual(said, "left out: 1 texts of the metadata\n")

    def test_what_a_format_cannot_express_is_not_written(self):
        self.refused("convert", STORED / "values.pt", self.folder / "f.safetensors", says="'size' is a torch.Size")
        self.refused("convert", STORED / "tensor.pt", self.folder / "f.safetensors", says="safetensors hold a dict")
        self.refused("convert", STORED / "tensor.pt", self.folder / "f.bin", says=".pt, .pth or .safetensors")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_verify(self):
        for name, says in (("values.pt", "all checksums agree"), ("legacy.pt", "no checksums")):
            self.assertIn(says, self.good("verify", STORED / name))
        whole = (STORED / "tensor.pt").read_bytes()
        place = whole.index(struct.pack("<2f", 1, 2))
        damaged = self.put("f.pt", whole[:place] + b"\1" + whole[place + 1:])
        self.refused("verify", damaged, says="data/0, byte 0: its checksum is wrong")
        self.refused("verify", self.put("g", whole[:-1]), says="the file is cut")
        self.refused("verify", self.folder / "none", says="cannot read")
        self.refused("verify", self.folder, says="it is a folder")
        self.refused("show", damaged, says="checksum")
        self.refused("verify", says="file is required")


if __name__ == "__main__":
    main()
