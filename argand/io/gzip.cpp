#include "argand/io/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "argand/io/file.h"

namespace argand::io {

bool is_gzip(ArrayRef<uint8_t> bytes) {
  return bytes.size() >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == Z_DEFLATED;
}

struct GzipReader::State {
  z_stream stream{};
  ArrayRef<uint8_t> compressed;
  size_t consumed = 0;  // avail_in has 32 bits, so the input is handed over in pieces
  std::string path;
  bool ended = false;

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    throw FileError(str("damaged gzip file '", path, "': ", parts...), path, 0);
  }
};

GzipReader::GzipReader(ArrayRef<uint8_t> compressed, std::string path) : state_(std::make_unique<State>()) {
  state_->compressed = compressed;
  state_->path = std::move(path);
  constexpr int kGzipOnly = 16;
  if (::inflateInit2(&state_->stream, MAX_WBITS + kGzipOnly) != Z_OK)
    ARGAND_THROW(OutOfMemoryError, "gzip: no memory to read '", state_->path, "'");
}

GzipReader::~GzipReader() { ::inflateEnd(&state_->stream); }

size_t GzipReader::read(void* out, size_t count) {
  constexpr size_t kPiece = size_t{1} << 30;
  State& s = *state_;
  auto* to = static_cast<uint8_t*>(out);
  size_t done = 0;
  while (done < count && !s.ended) {
    const size_t in = std::min(s.compressed.size() - s.consumed, kPiece);
    const size_t room = std::min(count - done, kPiece);
    s.stream.next_in = const_cast<uint8_t*>(s.compressed.data()) + s.consumed;
    s.stream.avail_in = static_cast<uInt>(in);
    s.stream.next_out = to + done;
    s.stream.avail_out = static_cast<uInt>(room);
    const int code = ::inflate(&s.stream, Z_NO_FLUSH);
    s.consumed += in - s.stream.avail_in;
    done += room - s.stream.avail_out;
    if (code == Z_STREAM_END) {
      s.ended = true;
    } else if (code == Z_MEM_ERROR) {
      ARGAND_THROW(OutOfMemoryError, "gzip: no memory to read '", s.path, "'");
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      s.fail("at byte ", s.consumed, ": ", s.stream.msg ? s.stream.msg : "not a gzip stream");
    } else if (s.consumed == s.compressed.size() && s.stream.avail_out != 0) {
      s.fail("it ends at byte ", s.consumed, " in the middle of its data");
    }
  }
  return done;
}

void GzipReader::finish() {
  uint8_t extra = 0;
  if (read(&extra, 1) != 0) state_->fail("it holds more than the ", state_->stream.total_out - 1, " bytes expected");
  if (const size_t rest = state_->compressed.size() - state_->consumed)
    state_->fail("expected its end at byte ", state_->consumed, ", got ", rest,
                 is_gzip(state_->compressed.slice(state_->consumed)) ? " bytes of another member" : " more bytes");
}

}  // namespace argand::io
