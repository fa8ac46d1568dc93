#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "argand/vision/codec.h"

namespace argand::vision {

namespace {

using detail::Source;

// Deflate packs at most 1032 bytes into one, and a byte holds up to eight 1-bit pixels.
constexpr int64_t kMaxInflated = 1032, kMaxPixelsPerByte = kMaxInflated * 8;
constexpr size_t kSignature = 8, kFirstType = kSignature + 4;

struct Message {
  char text[256] = "";
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto* message = static_cast<Message*>(png_get_error_ptr(png));
  std::snprintf(message->text, sizeof(message->text), "%s", text);
  png_longjmp(png, 1);
}

// The remaining warnings (see read_header) concern nothing that we use.
void on_warning(png_structp, png_const_charp) {}

struct Reader {
  explicit Reader(const Source& s) : source(s) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning);
    if (png) info = png_create_info_struct(png);
    if (!info) {
      png_destroy_read_struct(&png, nullptr, nullptr);
      ARGAND_THROW(OutOfMemoryError, "no memory to read the PNG image '", s.name, "'");
    }
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Source source;
  Message message;
  png_structp png = nullptr;
  png_infop info = nullptr;
  size_t position = 0;
  int width = 0, height = 0, channels = 0;
  std::vector<uint8_t> pixels;
  std::vector<png_bytep> rows;  // for an interlaced image, which is decoded in several passes
};

void on_read(png_structp png, png_bytep out, size_t count) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (count > reader->source.bytes.size() - reader->position) png_error(png, "the file ends too early");
  std::memcpy(out, reader->source.bytes.data() + reader->position, count);
  reader->position += count;
}

void read_header(Reader& r) {
  png_set_read_fn(r.png, &r, on_read);
  png_set_user_limits(r.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_size has the better message
  png_set_crc_action(r.png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_benign_errors(r.png, 0);  // too much or too little image data, and the like, are errors
  // Text, profiles and all else that is no pixel is skipped without inflating or keeping it; transparency stays.
  png_set_keep_unknown_chunks(r.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(r.png, r.info);
  r.width = static_cast<int>(png_get_image_width(r.png, r.info));
  r.height = static_cast<int>(png_get_image_height(r.png, r.info));
}

void choose_layout(Reader& r) {
  if (png_get_color_type(r.png, r.info) == PNG_COLOR_TYPE_PALETTE) {
    png_set_packing(r.png);  // one index per byte: libpng's own expansion takes indices past the palette's end as black
  } else {
    png_set_expand(r.png);    // 1, 2 and 4 bits to 8, a transparent colour to an alpha channel
    png_set_scale_16(r.png);  // rounds, where png_set_strip_16 would cut
  }
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  r.channels = png_get_channels(r.png, r.info);
}

void read_rows(Reader& r) {
  const size_t row_bytes = png_get_rowbytes(r.png, r.info), height = static_cast<size_t>(r.height);
  if (png_get_interlace_type(r.png, r.info) == PNG_INTERLACE_NONE) {
    for (size_t y = 0; y < height; ++y) {
      detail::grow(r.pixels, row_bytes * (y + 1), row_bytes * height);
      png_read_row(r.png, r.pixels.data() + row_bytes * y, nullptr);
    }
    return;
  }
  r.pixels.resize(row_bytes * height);
  for (size_t y = 0; y < height; ++y) r.rows.push_back(r.pixels.data() + row_bytes * y);
  png_read_image(r.png, r.rows.data());
}

void read_pixels(Reader& r) {
  read_rows(r);
  // The compressed stream has ended, and what follows the chunk it ended in is next.  libpng would pass over more data.
  const ArrayRef<uint8_t> rest = r.source.bytes.slice(r.position);
  if (rest.size() >= 8 && std::memcmp(rest.data() + 4, "IDAT", 4) == 0 && png_get_uint_32(rest.data()) > 0)
    png_error(r.png, "image data behind the end of the image");
  png_read_end(r.png, r.info);  // without a place for it, libpng takes any chunk behind the pixels
}

// See Note [setjmp in C++].
bool guarded(Reader& reader, detail::Step<Reader> step) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  step(reader);
  return true;
}

void run(Reader& reader, detail::Step<Reader> step) {
  if (!guarded(reader, step))
    ARGAND_THROW(IoError, "damaged PNG image '", reader.source.name, "', at byte ", reader.position, ": ",
                 reader.message.text);
}

// Counts the bytes of skipped chunks and of chunks with pixels.  Invalid chunks end the count: the decoder reports the
// error.
struct ChunkBytes {
  int64_t ancillary = 0, pixels = 0;
};
ChunkBytes chunk_bytes(ArrayRef<uint8_t> bytes) {
  constexpr size_t kFrame = 12;  // a chunk's length, type and checksum
  ChunkBytes sum;
  for (size_t at = kSignature; bytes.size() - at >= kFrame;) {
    const uint8_t* const chunk = bytes.data() + at;
    const size_t length = size_t{png_get_uint_32(chunk)};
    if (length > bytes.size() - at - kFrame || std::memcmp(chunk + 4, "IEND", 4) == 0) break;
    const bool ancillary = (chunk[4] & 0x20) != 0;
    if (ancillary && std::memcmp(chunk + 4, "tRNS", 4) != 0) sum.ancillary += static_cast<int64_t>(length);
    if (std::memcmp(chunk + 4, "IDAT", 4) == 0) sum.pixels += static_cast<int64_t>(length);
    at += kFrame + length;
  }
  return sum;
}

// libpng passes over chunks that it does not know, in front of the header too.
void check_first_chunk(const Source& source) {
  const auto type = source.bytes.slice(std::min<size_t>(source.bytes.size(), kFirstType));
  ARGAND_CHECK(IoError, type.size() >= 4 && std::memcmp(type.data(), "IHDR", 4) == 0, "damaged PNG image '",
               source.name, "', at byte ", kFirstType, ": expected the chunk IHDR first");
}

uint8_t over_white(int value, int alpha) {
  return static_cast<uint8_t>((value * alpha + 255 * (255 - alpha) + 127) / 255);
}

// Blends over white in place and drops the alpha channel: 2 channels become 1, and 4 become 3.
void drop_alpha(std::vector<uint8_t>& pixels, int channels) {
  const auto colours = static_cast<size_t>(channels - 1);
  uint8_t* to = pixels.data();
  for (size_t i = 0; i < pixels.size(); i += colours + 1)
    for (size_t c = 0; c < colours; ++c) *to++ = over_white(pixels[i + c], pixels[i + colours]);
  pixels.resize(static_cast<size_t>(to - pixels.data()));
}

// Indices to RGB.
std::vector<uint8_t> look_up(const Reader& reader) {
  png_colorp colours = nullptr;
  png_bytep alphas = nullptr;
  int colour_count = 0, alpha_count = 0;
  png_get_PLTE(reader.png, reader.info, &colours, &colour_count);
  png_get_tRNS(reader.png, reader.info, &alphas, &alpha_count, nullptr);
  std::vector<uint8_t> rgb;
  rgb.reserve(3 * reader.pixels.size());
  for (const uint8_t index : reader.pixels) {
    ARGAND_CHECK(IoError, index < colour_count, "damaged PNG image '", reader.source.name, "': expected indices below ",
                 colour_count, ", the size of its palette, got ", static_cast<int>(index));
    const int alpha = index < alpha_count ? alphas[index] : 255;
    const png_color& colour = colours[index];
    for (const int value : {colour.red, colour.green, colour.blue}) rgb.push_back(over_white(value, alpha));
  }
  return rgb;
}

struct Writer {
  explicit Writer(const Image& i) : image(i) {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning);
    if (png) info = png_create_info_struct(png);
    if (!info) {
      png_destroy_write_struct(&png, nullptr);
      ARGAND_THROW(OutOfMemoryError, "encode_png: no memory");
    }
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  const Image& image;
  Message message;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<uint8_t> bytes;
  bool no_memory = false;
};

void on_write(png_structp png, png_bytep data, size_t count) {
  auto* writer = static_cast<Writer*>(png_get_io_ptr(png));
  try {
    writer->bytes.insert(writer->bytes.end(), data, data + count);
  } catch (...) {  // an exception must not pass through libpng
    writer->no_memory = true;
  }
  if (writer->no_memory) png_error(png, "no memory");
}

void write_image(Writer& w) {
  png_set_write_fn(w.png, &w, on_write, nullptr);
  png_set_IHDR(w.png, w.info, static_cast<png_uint_32>(w.image.width), static_cast<png_uint_32>(w.image.height), 8,
               w.image.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w.png, w.info);
  for (int y = 0; y < w.image.height; ++y) png_write_row(w.png, w.image.at(0, y));
  png_write_end(w.png, w.info);
}

bool guarded(Writer& writer, detail::Step<Writer> step) {
  if (setjmp(png_jmpbuf(writer.png))) return false;
  step(writer);
  return true;
}

}  // namespace

Image detail::decode_png(const Source& source) {
  check_first_chunk(source);
  const ChunkBytes bytes = chunk_bytes(source.bytes);
  check_ancillary(source, "PNG", bytes.ancillary);
  Reader reader(source);
  run(reader, read_header);
  check_size(source, "PNG", reader.width, reader.height, kMaxPixelsPerByte);
  const auto packed = static_cast<int64_t>(png_get_rowbytes(reader.png, reader.info)) * reader.height;
  ARGAND_CHECK(IoError, packed <= bytes.pixels * kMaxInflated, "damaged PNG image '", source.name, "': ", bytes.pixels,
               " bytes of image data cannot hold ", reader.width, "x", reader.height, " pixels, ", packed, " bytes");
  run(reader, choose_layout);
  run(reader, read_pixels);

  if (png_get_color_type(reader.png, reader.info) == PNG_COLOR_TYPE_PALETTE) {
    reader.pixels = look_up(reader);
    reader.channels = 3;
  } else if (reader.channels % 2 == 0) {
    drop_alpha(reader.pixels, reader.channels);
    --reader.channels;
  }
  Image image;
  image.width = reader.width;
  image.height = reader.height;
  image.channels = reader.channels;
  image.pixels = std::move(reader.pixels);
  return image;
}

std::vector<uint8_t> encode_png(const Image& image) {
  ARGAND_CHECK(ValueError, image.channels == 1 || image.channels == 3, "encode_png: expected 1 or 3 channels, got ",
               image.channels);
  ARGAND_CHECK(ValueError, image.width > 0 && image.height > 0, "encode_png: expected a size above 0, got ",
               image.width, "x", image.height);
  const size_t expected = size_t(image.width) * size_t(image.height) * size_t(image.channels);
  ARGAND_CHECK(ValueError, image.pixels.size() == expected, "encode_png: expected ", expected, " bytes of pixels, got ",
               image.pixels.size());
  Writer writer(image);
  if (!guarded(writer, write_image)) {
    ARGAND_CHECK(OutOfMemoryError, !writer.no_memory, "encode_png: no memory");
    ARGAND_THROW(ValueError, "encode_png: ", writer.message.text);
  }
  return std::move(writer.bytes);
}

}  // namespace argand::vision
