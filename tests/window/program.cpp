#include "tests/window/program.h"

#include <cmath>
#include <sstream>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::fuzz {

const std::vector<Op>& ops() {
  using T = const Tensor*;
  static const std::vector<Op> list = {
      {"add", 2, true, true, [](T in, double x) { return in[0].add(in[1], static_cast<int64_t>(x)); },
       [](const Tensor& self, T in, double x) { self.add_(in[1], static_cast<int64_t>(x)); }},
      {"sub", 2, false, true, [](T in, double) { return in[0].sub(in[1]); },
       [](const Tensor& self, T in, double) { self.sub_(in[1]); }},
      {"mul", 2, false, true, [](T in, double) { return in[0].mul(in[1]); },
       [](const Tensor& self, T in, double) { self.mul_(in[1]); }},
      {"maximum", 2, false, false, [](T in, double) { return in[0].maximum(in[1]); }, nullptr},
      {"add_number", 1, true, true, [](T in, double x) { return in[0].add(x); },
       [](const Tensor& self, T, double x) { self.add_(x); }},
      {"mul_number", 1, true, true, [](T in, double x) { return in[0].mul(x); },
       [](const Tensor& self, T, double x) { self.mul_(x); }},
      {"neg", 1, false, true, [](T in, double) { return in[0].neg(); },
       [](const Tensor& self, T, double) { self.neg_(); }},
      {"sin", 1, false, true, [](T in, double) { return in[0].sin(); },
       [](const Tensor& self, T, double) { self.sin_(); }},
      {"relu", 1, false, false, [](T in, double) { return in[0].relu(); },
       [](const Tensor& self, T, double) { self.relu_(); }},
      {"clamp", 1, true, false, [](T in, double x) { return in[0].clamp(Scalar(-std::abs(x)), Scalar(2)); },
       [](const Tensor& self, T, double x) { self.clamp_(Scalar(-std::abs(x)), Scalar(2)); }},
      {"lt", 2, false, false, [](T in, double) { return in[0].lt(in[1]); }, nullptr},
      {"where_gt", 3, false, false, [](T in, double) { return in[0].where(in[0].gt(in[1]), in[2]); }, nullptr},
      {"addcmul", 3, true, true, [](T in, double x) { return in[0].addcmul(in[1], in[2], static_cast<int64_t>(x)); },
       [](const Tensor& self, T in, double x) { self.addcmul_(in[1], in[2], static_cast<int64_t>(x)); }},
      // Several instructions, whose temporaries nobody else ever owns.
      {"mix", 2, true, true, [](T in, double x) { return (in[0] * x + in[1]) * in[0] - in[1]; }, nullptr},
  };
  return list;
}

bool Program::threaded() const {
  for (const Call& c : calls)
    if (c.thread != 0) return true;
  return false;
}

double pattern(int64_t i, double x) { return static_cast<double>((i * 7 + static_cast<int64_t>(x)) % 13 - 6) * 0.25; }

std::string to_string(const Call& c) {
  std::ostringstream s;
  if (c.thread) s << "[thread " << c.thread << "] ";
  const auto t = [](int slot) { return "t" + std::to_string(slot); };
  const auto result = [&]() -> std::ostream& { return s << t(c.out) << " = "; };
  const auto dims = [](const Dims& d) { return str(d); };
  switch (c.kind) {
    case Call::kNew:
      result() << "new(" << dims(c.sizes) << ", " << str(c.dtype) << ", pattern " << c.x << ")";
      break;
    case Call::kBlob:
      result() << "from_blob(" << dims(c.sizes) << ", " << str(c.dtype) << ", pattern " << c.x << ")  # memory " << c.a;
      break;
    case Call::kSlice:
      result() << t(c.in[0]) << ".slice(" << c.a << ", " << c.b << ", " << c.c << ", " << c.d << ")";
      break;
    case Call::kSelect:
      result() << t(c.in[0]) << ".select(" << c.a << ", " << c.b << ")";
      break;
    case Call::kTranspose:
      result() << t(c.in[0]) << ".transpose(" << c.a << ", " << c.b << ")";
      break;
    case Call::kExpand:
      result() << t(c.in[0]) << ".expand(" << dims(c.sizes) << ")";
      break;
    case Call::kStrided:
      result() << t(c.in[0]) << ".as_strided(" << dims(c.sizes) << ", " << dims(c.strides) << ", " << c.a << ")";
      break;
    case Call::kCompute:
    case Call::kInplace: {
      const Op& op = ops()[static_cast<size_t>(c.op)];
      if (c.kind == Call::kCompute) result();
      s << op.name << (c.kind == Call::kInplace ? "_" : "") << "(";
      for (int i = 0; i < op.inputs; ++i) s << (i ? ", " : "") << t(c.in[i]);
      if (op.takes_number) s << ", " << c.x;
      s << ")";
      break;
    }
    case Call::kOut:
      s << "add_out(" << t(c.in[0]) << ", " << t(c.in[1]) << ", " << t(c.in[2]) << ")";
      break;
    case Call::kCopy:
      s << t(c.in[0]) << ".copy_(" << t(c.in[1]) << ")";
      break;
    case Call::kFill:
      s << t(c.in[0]) << ".fill_(" << c.x << ")";
      break;
    case Call::kSum:
      result() << t(c.in[0]) << ".sum(int64)";
      break;
    case Call::kDrop:
      s << "drop " << t(c.in[0]);
      break;
    case Call::kExpose:
      s << t(c.in[0]) << ".data_ptr()  # memory " << c.a;
      break;
    case Call::kPoke:
      s << "memory " << c.a << " [" << c.b << "] = " << c.x << " as " << str(c.dtype);
      break;
    case Call::kPeek:
      s << "look at memory " << c.a;
      break;
    case Call::kRead:
      s << "look at " << t(c.in[0]);
      break;
    case Call::kFlush:
      s << "flush";
      break;
  }
  return s.str();
}

std::string to_string(const Program& program) {
  std::string out = "program of seed " + std::to_string(program.seed) + ":\n";
  for (const Call& c : program.calls) out += "  " + to_string(c) + "\n";
  return out;
}

std::string difference(const Seen& expected, const Seen& got) {
  for (size_t i = 0; i < expected.bytes.size(); ++i) {
    if (i >= got.bytes.size()) return "nothing was seen of: " + expected.label[i];
    if (expected.label[i] != got.label[i]) return "saw " + got.label[i] + " in place of " + expected.label[i];
    const auto &e = expected.bytes[i], &g = got.bytes[i];
    if (e.size() != g.size()) return expected.label[i] + ": " + str(g.size(), " bytes in place of ", e.size());
    for (size_t b = 0; b < e.size(); ++b)
      if (e[b] != g[b]) return str(expected.label[i], ": byte ", b, " is ", int(g[b]), " in place of ", int(e[b]));
  }
  return expected.bytes.size() == got.bytes.size() ? "" : "saw more than expected";
}

}  // namespace argand::fuzz
