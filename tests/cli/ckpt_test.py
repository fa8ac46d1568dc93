"""`argand ckpt`: what checkpoints hold, how they differ, from one format to another, and damage."""
import io
import pathlib
import pickle
import struct
import zipfile
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
        self.assertEqual((set(names), data), ({"__metadata__", "x", "layer.weight"}, struct.pack("<4f", 1, 2, 3, 4)))
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
        made = self.folder / "made.safetensors"
        self.good("convert", STORED / "legacy.pt", made)
        self.assertIn("all checksums agree", self.good("verify", made))
        self.refused("verify", self.put("damaged.safetensors", made.read_bytes()[:-1] + b"\7"), says="has the checksum")
        self.assertIn("no checksums", self.good("verify", self.put("theirs.safetensors", write_safetensors({}, b""))))
        whole = (STORED / "tensor.pt").read_bytes()
        place = whole.index(struct.pack("<2f", 1, 2))
        damaged = self.put("f.pt", whole[:place] + b"\1" + whole[place + 1:])
        self.refused("verify", damaged, says="data/0, byte 0: its checksum is wrong")
        self.refused("verify", self.put("g", whole[:-1]), says="the file is cut")
        self.refused("verify", self.folder / "none", says="cannot read")
        self.refused("verify", self.folder, says="no checkpoint in")
        self.refused("show", damaged, says="checksum")
        self.refused("verify", says="file is required")


    def test_folder(self):
        self.refused("show", self.folder, says="it is empty")
        for step in (3, 12):
            self.good("convert", self.put("f.safetensors", floats(x=[step])), self.folder / f"step-{step:09}.pt")
        said = self.good("show", self.folder)
        self.assertRegex(said, r"^step 3  \d+ bytes\nstep 12  \d+ bytes  the newest that is whole\n.*step-000000012.pt: PyTorch")
        self.assertEqual(self.good("verify", self.folder).count("all checksums agree"), 2)
        newest = self.folder / "step-000000012.pt"
        newest.write_bytes(newest.read_bytes()[:-1])
        shown = self.run_cli("ckpt", "show", self.folder)
        self.assertEqual(shown.returncode, 0)
        self.assertRegex(shown.stdout, r"^step 3  \d+ bytes  the newest that is whole\nstep 12  \d+ bytes  damaged\n")
        self.assertIn("passed over", shown.stderr)
        said = self.good("verify", self.folder, status=1)
        self.assertRegex(said, r"step-000000003.pt: .* good; .*\n.*step-000000012.pt: damaged: .*the file is cut")

    def part(self, in_folder, name, **says):
        """A file of a save of several ranks, as DistributedCheckpointFolder writes it."""
        said = {"format": "argand.checkpoint", "generation": in_folder, "save": "5a" * 16, "world_size": 2, "rank": None, "per_rank": [], **says}
        (self.folder / in_folder).mkdir(exist_ok=True)
        return self.put(f"{in_folder}/{name}", self.archive(pickle.dumps(said, 2)))

    def save(self, generation, **says):
        self.part(generation, "shared.pt", **says)
        for rank in range(2):
            self.part(generation, f"rank-{rank}.pt", **says, rank=rank)

    def test_saves_of_ranks(self):
        one, two, three = "step-000000005-2-ranks", "step-000000010-2-ranks", "step-000000010-2-ranks.1"
        for name in (three, two, one):
            self.save(name)
        self.part("step-000000007", "shared.pt", world_size=9)
        said = self.good("verify", self.folder)
        self.assertRegex(said, rf"^\S*{one}: step 5, parts of 2 ranks, \d+ bytes: whole; all checksums agree\n\S*step-000000007: step 7, "
                               rf"nothing of single ranks, .*\n\S*{two}: .* whole; .*\n\S*{three}: .*\nthe newest that is whole: \S*{three}\n$")
        self.assertRegex(self.good("verify", self.folder / one), rf"^\S*{one}: .* whole;.*\n.*{one}\n$")

        (self.folder / two / "rank-1.pt").unlink()
        self.part(three, "rank-0.pt", rank=0, save="77" * 16)
        damaged = self.folder / three / "rank-1.pt"
        damaged.write_bytes(damaged.read_bytes()[:-1])
        said = self.good("verify", self.folder, status=1)
        self.assertIn(f"{two}: step 10: not whole: rank-1.pt is not there\n", said)
        self.assertRegex(said, rf"{three}: step 10: not whole: rank-0.pt is of save 77777777, and shared.pt of save 5a5a5a5a; rank-1.pt is "
                               rf"damaged: .*the file is cut")
        self.assertRegex(said, r"\nthe newest that is whole: \S*step-000000007\n$")

        for name, says, reason in (("shared.pt", {"rank": 1}, r"shared.pt: expected the shared part of 2 ranks in \S*, got the part of rank 1 of"),
                                   ("rank-0.pt", {"rank": 0, "generation": two}, rf"rank-0.pt: expected the part of rank 0 of 2 ranks in {one}, "
                                                                                 rf"got the part of rank 0 of 2 ranks in {two}"),
                                   ("rank-1.pt", {"rank": 1, "world_size": 3}, "got the part of rank 1 of 3 ranks in"),
                                   ("rank-1.pt", {"rank": 1, "format": "mine"}, "rank-1.pt is another file")):
            self.save(one)
            self.part(one, name, **says)
            self.assertRegex(self.good("verify", self.folder / one, status=1), rf"not whole: .*{reason}.*\nnone is whole\n$")
        self.put("step-000000003.pt", floats(x=[3]))  # one process's beside them
        self.assertRegex(self.good("verify", self.folder, status=1), r"step-000000003.pt: .*: good; ")

        # The name of a folder is believed no more than what is in it.
        (self.folder / "step-000000099-999999999-ranks").mkdir()
        self.assertIn("its name says that it is of 999999999 ranks", self.good("verify", self.folder, status=1))
        (self.folder / "step-000000099-01-ranks").mkdir()
        self.assertNotIn("-01-ranks", self.good("verify", self.folder, status=1))

    def test_names_with_dots(self):
        def pickled(code):  # {"a.b": 1, "a": {"b": 2}} and the like
            return self.put("p.pt", self.archive(code))
        text = lambda t: b"X" + struct.pack("<I", len(t)) + t  # noqa: E731
        one = pickled(b"\x80\x02}(" + text(b"a.b") + b"K\x01" + text(b"a") + b"}(" + text(b"b") + b"K\x02uu.")
        said = self.good("show", one)
        self.assertIn("\n  ['a.b']  1\n", said)
        self.assertIn("\n    ['a']['b']  2\n", said)
        other = self.put("o.pt", self.archive(b"\x80\x02}(" + text(b"a.b") + b"K\x02" + text(b"a") + b"}(" + text(b"b") + b"K\x01uu."))
        self.assertEqual(self.good("diff", one, one), "no differences\n")
        self.assertEqual(self.good("diff", one, other, status=1), "['a.b']: 1 and 2\n['a']['b']: 2 and 1\n")
        numbers = self.put("n.pt", self.archive(b"\x80\x02}(K\x01K\x05" + text(b"1") + b"K\x06u."))
        self.assertIn("\n  [int 1]  5\n  ['1']  6\n", self.good("show", numbers))

    @staticmethod
    def archive(pickle):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("archive/data.pkl", pickle)
            archive.writestr("archive/version", "3")
        return out.getvalue()

    def test_what_is_left_out_is_said(self):
        said = self.good("convert", self.module_with_metadata(), self.folder / "m.safetensors")
        self.assertIn("left out: named data of 1 values besides their elements (_metadata of a state dict)\n", said)

    def module_with_metadata(self):
        text = lambda t: b"X" + struct.pack("<I", len(t)) + t  # noqa: E731
        return self.put("m.pt", self.archive(b"\x80\x02ccollections\nOrderedDict\n)R}" + text(b"_metadata") + b"}sb."))


if __name__ == "__main__":
    main()
