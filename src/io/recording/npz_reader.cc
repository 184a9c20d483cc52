#include "io/recording/npz_reader.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

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

/// (n,) or (n, m)
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
  if (sizes.empty() || sizes.size() > 2) return false;
  out.rows = sizes[0];
  out.columns = sizes.size() == 2 ? sizes[1] : 1;
  return out.columns == 0 || out.rows < std::size_t{1} << 40;
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

/// Nothing where the array is of another type or does not hold what it says.
std::optional<NpzArray> parse_npy(std::string_view text) {
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
  if (!head || !value_of(*head, "'fortran_order'").starts_with("False")) return std::nullopt;
  NpzArray out;
  if (!parse_shape(value_of(*head, "'shape'"), out)) return std::nullopt;
  const std::string_view type = value_of(*head, "'descr'");
  const std::size_t data = begin + size, available = text.size() - data;
  if (type.starts_with("'<f8'")) {
    if (out.columns != 0 && out.rows > available / 8 / out.columns) return std::nullopt;
    out.numbers.resize(out.rows * out.columns);
    if (!out.numbers.empty()) std::memcpy(out.numbers.data(), text.data() + data, 8 * out.numbers.size());
    return out;
  }
  std::size_t width = 0;
  if (!type.starts_with("'<U") ||
      std::from_chars(type.data() + 3, type.data() + type.size(), width).ec != std::errc() || width == 0 ||
      out.columns != 1 || width > available || out.rows > available / 4 / width)
    return std::nullopt;
  for (std::size_t r = 0; r < out.rows; ++r) {
    std::string word;
    for (std::size_t k = 0; k < width; ++k) {
      const std::uint32_t c = bytes.at<std::uint32_t>(data + 4 * (r * width + k)).value_or(0);
      if (c != 0) append_utf8(word, c);
    }
    out.texts.push_back(std::move(word));
  }
  return out;
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
  for (int i = 0; i < *count; ++i) {
    const auto signature = bytes.piece(at, 4);
    const auto method = bytes.at<std::uint16_t>(at + 10), name_size = bytes.at<std::uint16_t>(at + 28),
               extra = bytes.at<std::uint16_t>(at + 30), comment = bytes.at<std::uint16_t>(at + 32);
    const auto size = bytes.at<std::uint32_t>(at + 20), local = bytes.at<std::uint32_t>(at + 42);
    const auto name = bytes.piece(at + 46, name_size.value_or(0));
    if (signature != std::string_view("PK\x01\x02") || !local || !name) {
      out.problem = "its directory is damaged";
      return out;
    }
    at += 46 + std::size_t(*name_size) + *extra + *comment;
    if (*method != 0) {
      out.problem = "it is compressed; numpy.savez writes what can be read, numpy.savez_compressed does not";
      return out;
    }
    const std::size_t skip = std::size_t(bytes.at<std::uint16_t>(*local + std::size_t{26}).value_or(0)) +
                             bytes.at<std::uint16_t>(*local + std::size_t{28}).value_or(0);
    const auto text = bytes.piece(*local + std::size_t{30} + skip, *size);
    if (!text || !name->ends_with(".npy")) continue;
    if (text->size() > left) {
      out.problem = "its arrays overlap";
      return out;
    }
    left -= text->size();
    if (auto array = parse_npy(*text)) out.arrays[std::string(name->substr(0, name->size() - 4))] = std::move(*array);
  }
  return out;
}

}  // namespace kansetsu::io
