#include <algorithm>
#include <csetjmp>
#include <cstdio>
// jpeglib.h wants FILE and size_t declared before it.
#include <jerror.h>
#include <jpeglib.h>

#include "argand/vision/codec.h"

namespace argand::vision {

namespace {

using detail::Source;

// Every 8x8 block of a Huffman-coded scan takes at least one bit.
constexpr int64_t kMaxPixelsPerByte = 8 * 64;

// A scan of a progressive image can cost a few bytes and yet visit every block.  Real encoders write some ten.
constexpr int kMaxScans = 100;

struct Reader {
  explicit Reader(const Source& s) : source(s) {}
  ~Reader() { jpeg_destroy_decompress(&jpeg); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Source source;
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";
  std::vector<uint8_t> pixels;
};

Reader& reader_of(j_common_ptr jpeg) { return *static_cast<Reader*>(jpeg->client_data); }

[[noreturn]] void on_error(j_common_ptr jpeg) {
  jpeg->err->format_message(jpeg, reader_of(jpeg).message);
  std::longjmp(reader_of(jpeg).jump, 1);
}

// A warning means that the decoder invented data, which we treat as damage.  Some cameras' files have harmless ones.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  switch (jpeg->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_ICC:
      return;
    default:
      on_error(jpeg);
  }
}

void on_progress(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMaxScans) return;
  std::snprintf(reader_of(jpeg).message, JMSG_LENGTH_MAX, "more than %d scans", kMaxScans);
  std::longjmp(reader_of(jpeg).jump, 1);
}

void read_header(Reader& r) {
  jpeg_create_decompress(&r.jpeg);
  r.progress.progress_monitor = on_progress;
  r.jpeg.progress = &r.progress;
  jpeg_mem_src(&r.jpeg, r.source.bytes.data(), static_cast<unsigned long>(r.source.bytes.size()));
  jpeg_read_header(&r.jpeg, TRUE);
}

// The colour space in which libjpeg returns the file's colours; JCS_UNKNOWN for an unsupported one.
J_COLOR_SPACE output_colours(const jpeg_decompress_struct& jpeg) {
  switch (jpeg.jpeg_color_space) {
    case JCS_GRAYSCALE:
      return JCS_GRAYSCALE;
    case JCS_RGB:
    case JCS_YCbCr:
      return JCS_RGB;
    case JCS_CMYK:
    case JCS_YCCK:
      return JCS_CMYK;
    default:
      return JCS_UNKNOWN;
  }
}

void start(Reader& r) { jpeg_start_decompress(&r.jpeg); }

void read_pixels(Reader& r) {
  const size_t row_bytes = size_t(r.jpeg.output_width) * size_t(r.jpeg.output_components);
  while (r.jpeg.output_scanline < r.jpeg.output_height) {
    detail::grow(r.pixels, row_bytes * (r.jpeg.output_scanline + 1), row_bytes * r.jpeg.output_height);
    JSAMPROW row = r.pixels.data() + row_bytes * r.jpeg.output_scanline;
    jpeg_read_scanlines(&r.jpeg, &row, 1);
  }
}

// libjpeg makes up the components that no scan has, and has then not looked at what the header says of them.
bool has_all_components(const jpeg_decompress_struct& jpeg) {
  return std::all_of(jpeg.comp_info, jpeg.comp_info + jpeg.num_components,
                     [](const jpeg_component_info& c) { return c.quant_table != nullptr; });
}

void finish(Reader& r) { jpeg_finish_decompress(&r.jpeg); }

// See Note [setjmp in C++].
bool guarded(Reader& reader, detail::Step<Reader> step) {
  if (setjmp(reader.jump)) return false;
  step(reader);
  return true;
}

void run(Reader& reader, detail::Step<Reader> step) {
  if (guarded(reader, step)) return;
  const size_t left = reader.jpeg.src ? reader.jpeg.src->bytes_in_buffer : reader.source.bytes.size();
  const size_t size = reader.source.bytes.size();
  ARGAND_THROW(IoError, "damaged JPEG image '", reader.source.name, "', near byte ", size - std::min(left, size), ": ",
               reader.message);
}

// The number of bytes in comments and application segments.  Coded data hold no marker that has a length.
int64_t ancillary_bytes(ArrayRef<uint8_t> bytes) {
  int64_t sum = 0;
  for (size_t at = 2; bytes.size() - at >= 4;) {
    const uint8_t marker = bytes[at + 1];
    const bool has_length = marker >= 0xC0 && marker != 0xFF && (marker < 0xD0 || marker > 0xD9);
    if (bytes[at] != 0xFF || !has_length) {
      ++at;
      continue;
    }
    const size_t length = size_t{bytes[at + 2]} << 8 | bytes[at + 3];
    if (length > bytes.size() - at - 2) break;
    const size_t taken = std::max<size_t>(length, 2);  // by the length itself, whatever it says
    if (marker == 0xFE || (marker >= 0xE0 && marker <= 0xEF)) sum += static_cast<int64_t>(taken);
    at += 2 + taken;
  }
  return sum;
}

// Adobe's programs write CMYK inverted, and all others follow them: 255 means no ink.
std::vector<uint8_t> cmyk_to_rgb(const std::vector<uint8_t>& cmyk, bool inverted) {
  std::vector<uint8_t> rgb;
  rgb.reserve(cmyk.size() / 4 * 3);
  const int flip = inverted ? 0 : 255;
  for (size_t i = 0; i < cmyk.size(); i += 4)
    for (size_t c = 0; c < 3; ++c)
      rgb.push_back(static_cast<uint8_t>(((cmyk[i + c] ^ flip) * (cmyk[i + 3] ^ flip) + 127) / 255));
  return rgb;
}

}  // namespace

Image detail::decode_jpeg(const Source& source) {
  check_ancillary(source, "JPEG", ancillary_bytes(source.bytes));
  Reader reader(source);
  jpeg_decompress_struct& jpeg = reader.jpeg;
  jpeg.err = jpeg_std_error(&reader.errors);
  jpeg.client_data = &reader;
  reader.errors.error_exit = on_error;
  reader.errors.emit_message = on_message;
  run(reader, read_header);
  check_size(source, "JPEG", jpeg.image_width, jpeg.image_height, kMaxPixelsPerByte);
  ARGAND_CHECK(IoError, !jpeg.arith_code, "JPEG image '", source.name, "': arithmetic coding is not supported");
  jpeg.out_color_space = output_colours(jpeg);
  ARGAND_CHECK(IoError, jpeg.out_color_space != JCS_UNKNOWN, "JPEG image '", source.name,
               "': expected gray, RGB or CMYK, got an unknown space of ", jpeg.num_components, " components");
  run(reader, start);
  run(reader, read_pixels);
  ARGAND_CHECK(IoError, has_all_components(jpeg), "damaged JPEG image '", source.name,
               "': there is no scan of one of its ", jpeg.num_components, " components");
  run(reader, finish);

  Image image;
  image.width = static_cast<int>(jpeg.output_width);
  image.height = static_cast<int>(jpeg.output_height);
  image.channels = jpeg.output_components == 1 ? 1 : 3;
  image.pixels =
      jpeg.output_components == 4 ? cmyk_to_rgb(reader.pixels, jpeg.saw_Adobe_marker) : std::move(reader.pixels);
  return image;
}

}  // namespace argand::vision
