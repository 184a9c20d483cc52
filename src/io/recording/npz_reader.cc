#include "io/recording/npz_reader.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

#include "io/inflate.h"

namespace kansetsu::io {
namespace {

/// Little-endian numbers at places that may not be there.
struct Bytes {
  std::string_view all;

  template <class T>
  std::optional<T> at(std::size_t place) const {
    if (place > all.size() || all.size() - place < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, all.data() + place, sizeof(T));
    return value;
  }
  std::optional<std::string_view> piece(std::size_t place, std::size_t size) const {
    if (place > all.size() || all.size() - place < size) return std::nullopt;
    return all.substr(place, size);
  }
};

/// The value behind 'key': in the header of an array.
std::string_view value_of(std::string_view head, std::string_view key) {
  const std::size_t at = head.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t colon = head.find(':', at);
  if (colon == std::string_view::npos) return {};
  std::string_view rest = head.substr(colon + 1);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return rest;
}

/// (), (n,), (n, m), or more: (n, m, k) is n rows of m·k.
bool parse_shape(std::string_view text, NpzArray& out) {
  std::vector<std::size_t> sizes;
  if (!text.starts_with('(')) return false;
  for (std::size_t i = 1; i < text.size() && text[i] != ')';) {
    if (text[i] < '0' || text[i] > '9') {
      ++i;
      continue;
    }
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), value);
    if (error != std::errc()) return false;
    sizes.push_back(value);
    i = std::size_t(end - text.data());
  }
  constexpr std::size_t kMost = std::size_t{1} << 40;
  out.rows = sizes.empty() ? 1 : sizes[0];
  out.columns = 1;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (sizes[i] != 0 && out.columns > kMost / sizes[i]) return false;
    out.columns *= sizes[i];
  }
  return out.columns == 0 || out.rows < kMost;
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += char(0xc0 | c >> 6);
    out += char(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += char(0xe0 | c >> 12);
    out += char(0x80 | (c >> 6 & 0x3f));
    out += char(0x80 | (c & 0x3f));
  } else {
    out += '?';  // no name of ours
  }
}

/// Whether the file has them row by row or column by column.
enum class Order { kRows, kColumns };

/// Numbers of type T as doubles. @return  whether all of them are there
template <class T>
bool read_numbers(std::string_view data, Order order, NpzArray& out) {
  if (out.columns != 0 && out.rows > data.size() / sizeof(T) / out.columns) return false;
  out.numbers.resize(out.rows * out.columns);
  for (std::size_t k = 0; k < out.numbers.size(); ++k) {
    T value;
    std::memcpy(&value, data.data() + k * sizeof(T), sizeof(T));
    out.numbers[order == Order::kRows ? k : k % out.rows * out.columns + k / out.rows] = double(value);
  }
  return true;
}

/// Names of joints, and of who moved: many short ones would take far more memory than the file has bytes.
constexpr std::size_t kMostTexts = 100'000;

/// Texts of `width` characters of 1 (|S) or 4 bytes (<U). @return  whether all of them are there
bool read_texts(std::string_view data, std::size_t width, std::size_t character, NpzArray& out) {
  if (width == 0 || out.columns != 1 || width > data.size() || out.rows > data.size() / character / width) return false;
  if (out.rows > kMostTexts) return false;
  const Bytes bytes{data};
  out.texts.reserve(out.rows);
  for (std::size_t r = 0; r < out.rows; ++r) {
    std::string word;
    for (std::size_t k = 0; k < width; ++k) {
      const std::size_t at = character * (r * width + k);
      const std::uint32_t c =
          character == 1 ? bytes.at<std::uint8_t>(at).value_or(0) : bytes.at<std::uint32_t>(at).value_or(0);
      if (c != 0) append_utf8(word, c);
    }
    out.texts.push_back(std::move(word));
  }
  return true;
}

/// Nothing where the array is of another type or does not hold what it says. `type`: as the file writes it
std::optional<NpzArray> parse_npy(std::string_view text, std::string_view& type) {
  const Bytes bytes{text};
  if (!text.starts_with("\x93NUMPY")) return std::nullopt;
  const auto version = bytes.at<std::uint8_t>(6);
  std::size_t begin = 10, size = 0;
  if (version == 1) {
    size = bytes.at<std::uint16_t>(8).value_or(0);
  } else {
    begin = 12;
    size = bytes.at<std::uint32_t>(8).value_or(0);
  }
  const auto head = bytes.piece(begin, size);
  if (!head) return std::nullopt;
  NpzArray out;
  if (!parse_shape(value_of(*head, "'shape'"), out)) return std::nullopt;
  type = value_of(*head, "'descr'");
  const std::string_view data = text.substr(begin + size);
  const Order order = value_of(*head, "'fortran_order'").starts_with("True") ? Order::kColumns : Order::kRows;
  bool whole = false;
  if (type.starts_with("'<f8'")) whole = read_numbers<double>(data, order, out);
  if (type.starts_with("'<f4'")) whole = read_numbers<float>(data, order, out);
  if (type.starts_with("'<i8'")) whole = read_numbers<std::int64_t>(data, order, out);
  if (type.starts_with("'<i4'")) whole = read_numbers<std::int32_t>(data, order, out);
  const bool wide = type.starts_with("'<U");
  std::size_t width = 0;
  if ((wide || type.starts_with("'|S")) &&
      std::from_chars(type.data() + 3, type.data() + type.size(), width).ec == std::errc())
    whole = read_texts(data, width, wide ? 4 : 1, out);
  return whole ? std::optional(std::move(out)) : std::nullopt;
}

/// The bytes of a member, unpacked into `unpacked` where it is compressed.
std::optional<std::string_view> member(const Bytes& bytes, std::size_t local, std::uint16_t method, std::size_t packed,
                                       std::size_t size, std::string& unpacked) {
  const std::size_t skip = std::size_t(bytes.at<std::uint16_t>(local + std::size_t{26}).value_or(0)) +
                           bytes.at<std::uint16_t>(local + std::size_t{28}).value_or(0);
  const auto text = bytes.piece(local + std::size_t{30} + skip, packed);
  if (!text || method == 0) return text;
  std::optional<std::string> whole = inflate(*text, DeflateForm::kRaw, size);
  if (!whole) return std::nullopt;
  unpacked = *std::move(whole);
  return unpacked;
}

}  // namespace

NpzFile parse_npz(std::string_view all) {
  const Bytes bytes{all};
  NpzFile out;
  const std::size_t end = all.rfind("PK\x05\x06");
  const auto count = bytes.at<std::uint16_t>(end == std::string_view::npos ? all.size() : end + 10);
  const auto directory = bytes.at<std::uint32_t>(end == std::string_view::npos ? all.size() : end + 16);
  if (!count || !directory) {
    out.problem = "not a ZIP file, or truncated";
    return out;
  }
  std::size_t at = *directory, left = all.size();  // entries that overlap would make a small file large
  // [byte] Motions are packed to a half or a fifth, and one that stands still for minutes to a thousandth.
  constexpr std::size_t kMostGrowth = 32, kAlways = std::size_t{64} << 20, kLargest = std::size_t{1} << 30;
  std::size_t most = std::min(kLargest, kAlways + kMostGrowth * all.size());
  for (int i = 0; i < *count; ++i) {
    const auto signature = bytes.piece(at, 4);
    const auto method = bytes.at<std::uint16_t>(at + 10), name_size = bytes.at<std::uint16_t>(at + 28),
               extra = bytes.at<std::uint16_t>(at + 30), comment = bytes.at<std::uint16_t>(at + 32);
    const auto size = bytes.at<std::uint32_t>(at + 20), full = bytes.at<std::uint32_t>(at + 24),
               local = bytes.at<std::uint32_t>(at + 42);
    const auto name = bytes.piece(at + 46, name_size.value_or(0));
    if (signature != std::string_view("PK\x01\x02") || !local || !name) {
      out.problem = "its directory is damaged";
      return out;
    }
    at += 46 + std::size_t(*name_size) + *extra + *comment;
    constexpr std::uint16_t kStored = 0, kDeflated = 8;
    if (*method != kStored && *method != kDeflated) {
      out.problem = "it is compressed by another method than DEFLATE, which numpy.savez_compressed uses";
      return out;
    }
    if (!name->ends_with(".npy")) continue;
    most -= std::min<std::size_t>(most, full.value_or(0));
    if (most == 0) {
      out.problem = "its arrays are larger than 1 GiB, or grow more than 32 times when they are unpacked";
      return out;
    }
    std::string unpacked;
    const auto text = member(bytes, *local, *method, *size, full.value_or(0), unpacked);
    if (!text && *method == kDeflated) {
      out.problem = "'" + std::string(*name) + "' is damaged";
      return out;
    }
    if (!text) continue;
    if (*size > left) {
      out.problem = "its arrays overlap";
      return out;
    }
    left -= *size;
    const std::string key(name->substr(0, name->size() - 4));
    std::string_view type;
    if (auto array = parse_npy(*text, type))
      out.arrays[key] = std::move(*array);
    else
      out.unread[key] = std::string(type.substr(0, type.find(',')).substr(0, 20));
  }
  return out;
}

}  // namespace kansetsu::io
