// Warnings, logs and what streams print: c10/util/Exception.h and c10/util/Logging.h.  Texts are what LibTorch 2.15
// prints.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

struct Catch : c10::WarningHandler {
  using WarningHandler::process;
  void process(const c10::Warning& w) override {
    text += c10::str(w.msg(), '/', w.source_location().function, '/', w.type().index(), '/', w.verbatim(), ';');
    line = w.source_location().line;
  }
  std::string text;
  uint32_t line = 0;
};

TEST(Warnings, HaveATypeAndAPlace) {
  Catch outer, inner;
  c10::WarningHandler* const before = c10::WarningUtils::get_warning_handler();
  ASSERT_NE(before, nullptr);
  c10::WarningUtils::set_warning_handler(&outer);
  TORCH_WARN("hello ", 3);
  const uint32_t line = __LINE__ - 1;
  EXPECT_EQ(outer.line, line);
  TORCH_WARN_DEPRECATION("old");
  for (int i = 0; i < 2; ++i) TORCH_WARN_ONCE("once");
  {
    const c10::WarningUtils::WarningHandlerGuard guard(&inner);
    TORCH_WARN("in");
  }
  c10::warn(c10::Warning(c10::UserWarning(), {"f", "file", 3}, "direct", true));
  argand::warn("of the library");
  c10::WarningUtils::set_warning_handler(nullptr);
  EXPECT_EQ(c10::WarningUtils::get_warning_handler(), before);
  EXPECT_EQ(outer.text, "hello 3/TestBody/0/0;old/TestBody/1/0;once/TestBody/0/0;direct/f/0/1;of the library//0/0;");
  EXPECT_EQ(inner.text, "in/TestBody/0/0;");
}

TEST(Warnings, WithoutAHandlerGoToStandardError) {
  testing::internal::CaptureStderr();
  TORCH_WARN("out ", 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("out 1\n"), std::string::npos);
}

TEST(Settings, DeterminismIsAskedOfKernelsOfPrograms) {
  at::Context& context = at::globalContext();
  context.alertNotDeterministic("planted");
  context.setDeterministicAlgorithms(true, false);
  EXPECT_THROW(context.alertNotDeterministic("planted"), c10::Error);
  context.setDeterministicAlgorithms(true, true);
  testing::internal::CaptureStderr();
  context.alertNotDeterministic("planted");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("planted does not have a deterministic"), std::string::npos);
  context.setDeterministicAlgorithms(false, false);
}

TEST(Settings, NumbersOfThreadsThatDoNotCountAreSaid) {
  EXPECT_THROW(at::set_num_interop_threads(0), c10::Error);
  std::string said;  // a warning would come once, and another test may have had it
  const auto before = argand::set_ignored_handler(
      [&](std::string_view, std::string_view argument, std::string_view) { said += argument; });
  at::set_num_interop_threads(1);
  EXPECT_EQ(said, "");
  at::set_num_interop_threads(4);
  EXPECT_EQ(said, "nthreads");
  argand::set_ignored_handler(before);
  EXPECT_THROW(at::AutoNonVariableTypeMode(false), c10::Error);
}

TEST(Logging, LinesFromALevelOn) {
  testing::internal::CaptureStderr();
  LOG(INFO) << "not " << 1;
  LOG(WARNING) << "yes " << 2;
  LOG_IF(ERROR, false) << "no";
  VLOG(1) << "verbose";
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.substr(0, 2), "[W");
  EXPECT_NE(said.find("warnings_test.cpp:"), std::string::npos);
  EXPECT_EQ(said.substr(said.find("] ")), "] yes 2\n");
  EXPECT_THROW(LOG(FATAL) << "end", c10::Error);
}

TEST(Logging, ChecksThrow) {
  int evaluated = 0;
  CHECK(++evaluated == 1) << "never";
  CHECK_EQ(1, 1) << "never";
  EXPECT_EQ(evaluated, 1);
  testing::internal::CaptureStderr();
  EXPECT_THROW(CHECK(false) << "why", c10::Error);
  EXPECT_THROW(CHECK_LT(2, 1), c10::Error);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("Check failed: 2 < 1 (2 vs. 1)"), std::string::npos);
  EXPECT_THROW(CAFFE_ENFORCE(false, "why ", 1), c10::Error);
  EXPECT_THROW(CAFFE_ENFORCE_EQ(1, 2), c10::Error);
  EXPECT_NO_THROW(CAFFE_ENFORCE_EQ(1, 1, "never"));
}

TEST(Checks, OfTensorsAndTypes) {
  const auto said = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const c10::Error& e) {
      return e.what_without_backtrace();
    }
    return "nothing";
  };
  EXPECT_EQ(said([] { TORCH_CHECK_TENSOR_ALL(torch::tensor({true, false}), "all ", 1); }), "all 1");
  EXPECT_EQ(said([] { TORCH_CHECK_TENSOR_ALL(torch::tensor({true, true}), "all ", 1); }), "nothing");
  EXPECT_EQ(said([] { TORCH_CHECK_WITH(ValueError, false, "a", 1); }), "a1");
  EXPECT_EQ(said([] { TORCH_CHECK_WITH_MSG(Error, false, "TYPE", "a", 1); }), "a1");
}

TEST(Streams, Containers) {
  std::ostringstream out;
  out << torch::ones({2, 3}).sizes().vec() << '|' << std::vector<double>{1, 2.5} << '|'
      << std::vector<std::string>{"a", "b"} << '|' << std::vector<int>() << '|' << std::set<int>{1, 2} << '|'
      << std::vector<std::vector<int64_t>>{{1}, {2, 3}};
  EXPECT_EQ(out.str(), "2 3|1 2.5|a b||1 2|1 2 3");
  out.str("");
  out << std::vector<int>(150, 1);
  EXPECT_EQ(out.str().size(), 203U);  // 100 of them, with a space between, and " ..."
  EXPECT_EQ(out.str().substr(196), "1 1 ...");
  EXPECT_EQ(c10::str(std::vector<int64_t>{1, 2}), "1 2");
}

// Standard headers that LibTorch's header includes, and that programs use without an #include of their own.
TEST(Headers, OfTheStandardLibrary) {
  std::ostringstream out;
  out << std::setw(5) << std::setprecision(2) << 1.234;
  EXPECT_EQ(out.str(), "  1.2");
  const std::ifstream file("/dev/null");
  EXPECT_TRUE(file.is_open());
  const std::vector<int> v{1, 2};
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 3);
  std::queue<int> q;
  std::stack<int> s;
  const std::list<int> l;
  const std::unordered_set<int> u{1};
  const std::bitset<4> b(3);
  EXPECT_EQ(q.size() + s.size() + l.size() + u.size() + b.count(), 3U);
}

// The version is that of the API, as in Python.
TEST(Headers, Version) {
  EXPECT_EQ(TORCH_VERSION, c10::str(TORCH_VERSION_MAJOR, '.', TORCH_VERSION_MINOR, '.', TORCH_VERSION_PATCH));
  std::ifstream file("python/argand/torch_version.py");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("FOLLOWED = \"" TORCH_VERSION "\""), std::string::npos);
}

}  // namespace
