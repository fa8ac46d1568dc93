"""What the operators find in sample texts, what is drawn, and when a run fails."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import operators
from draw import MOST_IN_FUNCTION, drawn, overlaps
from judge import Verdict
from known import Known
from plant import COPIED, guilty, sources, with_faults, write
from report import report
from source import Source

SAMPLE = """
namespace argand {
// A comment with a + b, and a text: "a + b".
#define MACRO(a, b) (a + b)
template <class T, int kLanes = 2 * 8>
struct Loop {
  static constexpr int kTwice = kLanes + kLanes;
  static constexpr T identity() { return 1.5 - 0.5; }
  ARGAND_INLINE static void run(const T* x, int64_t n, int64_t stride, T* out) {
    constexpr int kRows = kLanes - 1;
    T rows[kRows + 1];
    static_assert(kRows + 2 > 0);
    if constexpr (kRows > 3) out[0] = rows[0];
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += static_cast<double>(x[i * stride]) * 0.5;
      out[i] = -x[i];
    }
    std::array<T, kRows - 1> rest{};
    out[0] = call<T, kRows>(sum - 1.0e-3f, n >= 2 ? rest[0] : T(0));
    parallel_for(0, n, 64, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) out[static_cast<int64_t>(k)] = 2 * x[k] / sum;
    });
  }
};
__global__ void kernel(float* p) {
  __syncthreads();
}
}  // namespace argand
"""

# All that each operator finds in it.
EXPECTED = {
    "index": ["i -> i > 0 ? i - 1 : i"] * 2 + ["k -> k > 0 ? k - 1 : k"],
    "stride": ["i * stride -> i"],
    "bound": ["i < n -> i + 1 < n", "k < end -> k + 1 < end"],
    "start": ["0 -> 1"],
    "term": ["sum - 1.0e-3f -> sum"],
    "factor": ["static_cast<double>(x[i * stride]) * 0.5 -> static_cast<double>(x[i * stride])", "2 * x[k] -> 2", "2 * x[k] / sum -> 2 * x[k]"],
    "sign": ["-x[i] -> x[i]", "sum - 1.0e-3f -> sum + 1.0e-3f"],
    "cast": ["static_cast<int64_t>(k) -> static_cast<int64_t>(static_cast<int16_t>(k))"],
    "accumulation": ["sum += static_cast<double>(x[i * stride]) * 0.5 -> sum = static_cast<double>(x[i * stride]) * 0.5",
                     "sum += static_cast<double>(x[i * stride]) * 0.5 -> sum = static_cast<float>(sum + static_cast<double>(x[i * stride]) * 0.5)"],
    "comparison": ["i < n -> i <= n", "n >= 2 -> n > 2", "k < end -> k <= end"],
    "constant": [f"0.5 -> {(0.5 * (1 + 1e-5)).hex()}", f"1.0e-3f -> {(1e-3 * (1 + 1e-5)).hex()}f"],
    "chunk": ["[begin, end) -> [begin + 1, end) where begin > 0", "[begin, end) -> [begin, end - 1) where begin > 0"],
    "barrier": ["__syncthreads() -> nothing"],
}


def check(what, got, expected):
    if got != expected:
        raise SystemExit(f"self-test: {what}: got {got}, expected {expected}")


def operators_find():
    source = Source(SAMPLE)
    check("functions", [f.name for f in source.functions], ["Loop::run", "kernel"])
    faults = operators.faults_of("sample.h", source, operators.ON_CPU + operators.ON_GPU)
    check("operators", set(EXPECTED), {o.__name__ for o in operators.ON_CPU + operators.ON_GPU})
    for name, expected in EXPECTED.items():
        check(name, sorted(f"{f.before} -> {f.after}" for f in faults if f.operator == name), sorted(expected))
    stride = next(f for f in faults if f.operator == "stride")
    line = with_faults(SAMPLE, [stride], {stride: 17}).splitlines()[stride.line - 1]
    check("a planted line", line.strip(), "sum += static_cast<double>(x[(ARGAND_MUTANT(17) ? (i) : (i * stride))]) * 0.5;")
    check("the fault of an error", guilty(f"/b/sample.h:{stride.line}:9: error: no", faults) >= {stride}, True)
    check("the fault of another line", guilty("/b/sample.h:1:9: error: no", faults), set())
    return faults


def expressions_are_whole():
    """What is replaced is what the operator binds: a part of `x / a * b` would be another value."""
    text = "void f(int n) {{\n  y = {};\n}}\n"
    for expression, operator, expected in (
            ("x / a * n", "stride", ["x / a * n -> x / a"]),
            ("x - a * b + c", "term", ["x - a * b -> x", "x - a * b + c -> x - a * b"]),
            ("p->q[2].r(1) - T<A>(b)", "sign", ["p->q[2].r(1) - T<A>(b) -> p->q[2].r(1) + T<A>(b)"]),
            ("a + b < c && d", "comparison", ["a + b < c -> a + b <= c"]),
            ("[&] { return a + b; }()", "term", ["a + b -> a"]),
            ("g([&] { return 1; }) + b", "term", []),
            ("(a | b) + c", "term", ["(a | b) + c -> (a | b)"])):
        found = [f"{f.before} -> {f.after}" for f in operators.faults_of("f.h", Source(text.format(expression))) if f.operator == operator]
        check(expression, found, expected)


def conditions_stay_comparisons():
    """The compiler wants one of a loop that it shall vectorise."""
    text = "void f(int n) {\n  ARGAND_VECTORIZE\n  for (int j = 0; j < n; ++j) y[j] = 0;\n}\n"
    for operator, limit in (("bound", "- 1"), ("comparison", "+ 1")):
        fault = next(f for f in operators.faults_of("f.h", Source(text)) if f.operator == operator)
        check(f"a vectorised loop, {operator}", with_faults(text, [fault], {fault: 1}).splitlines()[2].strip(),
              f"for (int j = 0, j_end = ARGAND_MUTANT(1) ? (n) {limit} : (n); j < j_end; ++j) y[j] = 0;")


def draws(faults):
    chosen = drawn(faults, 1, 100)
    check("faults that overlap", [(a, b) for a in chosen for b in chosen if a != b and overlaps(a, b)], [])
    check("faults in one function", len([f for f in chosen if f.function == "Loop::run"]) <= MOST_IN_FUNCTION, True)
    moved = operators.faults_of("sample.h", Source("\n\n" + SAMPLE), operators.ON_CPU + operators.ON_GPU)
    check("the same faults, two lines lower", [f.key for f in drawn(moved, 1, 100)], [f.key for f in chosen])
    check("other faults of another seed", [f.key for f in drawn(faults, 2, 100)] == [f.key for f in chosen], False)


def verdicts_count(faults):
    killed, survivor = faults[0], faults[1]
    verdicts = {killed: Verdict("conformance", "Values.x", 1), survivor: Verdict("", "", 1)}

    def outcome(*lines):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "known.txt"
            path.write_text("# a comment\n" + "".join(f"{' | '.join(key)} | why\n" for key in lines))
            text, passed = report(verdicts, Known(path), lambda file: True, 0, True, 1)
        return passed, [bool(re.search(word, "\n".join(text))) for word in ("a test finds this", "no such fault", "to be found by a stronger")]
    check("a survivor fails", outcome(), (False, [False, False, True]))
    check("a listed one passes", outcome(survivor.key), (True, [False, False, False]))
    check("a listed one that is found", outcome(survivor.key, killed.key), (False, [True, False, False]))
    check("a listed one that is not planted", outcome(survivor.key, ("a", "b", "c", "d | e", "0")), (False, [False, True, False]))


def copies_what_the_build_reads():
    """The generator of the sources, which the build calls first, finds all that it reads in the copy."""
    with tempfile.TemporaryDirectory() as folder:
        for path, file in sources():
            write(Path(folder) / file, path.read_bytes())
        made = subprocess.run([sys.executable, "-B", "tools/generate/generate.py", "--out", "generated"], cwd=folder, capture_output=True, text=True)
        check(f"the generator in a copy of {', '.join(COPIED)}: {made.stderr}", made.returncode, 0)


def main():
    copies_what_the_build_reads()
    faults = operators_find()
    expressions_are_whole()
    conditions_stay_comparisons()
    draws(faults)
    verdicts_count(faults)
    print(f"mutants: {len(EXPECTED)} operators find what they shall")
    return 0
