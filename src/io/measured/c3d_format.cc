#include "io/measured/c3d_format.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "io/capture/capture_codes.h"
#include "io/text.h"

namespace kansetsu::io::c3d {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  return out;
}

std::string clean_text(std::string_view raw) {
  const std::size_t zero = std::min(raw.find('\0'), raw.size());
  std::string text = repair_utf8(trim(raw.substr(0, zero)));
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

/// What NAME, NAME2, NAME3, … have, one after the other.
template <class Item>
std::vector<Item> numbered(const Parameters& parameters, const std::string& name,
                           std::vector<Item> Parameter::* items) {
  std::vector<Item> out;
  for (int k = 1;; ++k) {
    const auto found = parameters.find(name + (k == 1 ? "" : std::to_string(k)));
    if (found == parameters.end()) return out;
    const std::vector<Item>& more = found->second.*items;
    out.insert(out.end(), more.begin(), more.end());
  }
}

/// The values of a parameter that begin at a place.
/// All parameters together are no larger than the file, which `left` counts down: they do not overlap.
Parameter read_values(Bytes& bytes, std::size_t at, std::size_t& left) {
  Parameter out;
  const auto type = static_cast<std::int8_t>(bytes.byte(at));
  const int dims = bytes.byte(at + 1);
  at += 2;
  std::size_t count = 1;
  for (int i = 0; i < dims && !bytes.bad; ++i) {
    out.dims.push_back(bytes.byte(at++));
    count *= std::size_t(out.dims.back());
    if (count > left) bytes.bad = true;
  }
  if (bytes.bad) return out;
  left -= count;
  if (type == -1) {
    const std::size_t length = out.dims.empty() ? 1 : std::size_t(out.dims[0]), rows = length > 0 ? count / length : 0;
    for (std::size_t i = 0; i < rows && !bytes.bad; ++i)
      out.texts.push_back(clean_text(bytes.text(at + i * length, length)));
    return out;
  }
  const std::size_t size = type == 4 ? 4 : type == 2 ? 2 : 1;
  bytes.text(at, count * size);  // whether it is there at all
  for (std::size_t i = 0; i < count && !bytes.bad; ++i) {
    const std::size_t p = at + i * size;
    out.numbers.push_back(type == 4 ? bytes.real(p) : type == 2 ? bytes.word(p) : bytes.byte(p));
  }
  return out;
}

}  // namespace

std::string_view Bytes::text(std::size_t at, std::size_t size) {
  if (at > bytes_.size() || size > bytes_.size() - at) {
    bad = true;
    return {};
  }
  return bytes_.substr(at, size);
}

std::uint8_t Bytes::byte(std::size_t at) {
  const std::string_view b = text(at, 1);
  return b.empty() ? 0 : static_cast<std::uint8_t>(b[0]);
}

std::int16_t Bytes::word(std::size_t at) {
  const std::string_view b = text(at, 2);
  if (b.empty()) return 0;
  const auto first = static_cast<std::uint8_t>(b[0]), second = static_cast<std::uint8_t>(b[1]);
  const bool big = processor == Processor::kSgi;
  return static_cast<std::int16_t>(big ? first << 8 | second : second << 8 | first);
}

double Bytes::real(std::size_t at) {
  const std::string_view b = text(at, 4);
  if (b.empty()) return 0;
  std::uint32_t u[4];
  for (std::size_t i = 0; i < 4; ++i) u[i] = static_cast<std::uint8_t>(b[i]);
  switch (processor) {
    case Processor::kIntel:
      return std::bit_cast<float>(u[3] << 24 | u[2] << 16 | u[1] << 8 | u[0]);
    case Processor::kSgi:
      return std::bit_cast<float>(u[0] << 24 | u[1] << 16 | u[2] << 8 | u[3]);
    case Processor::kDec:
      break;
  }
  // DEC has its words the other way round, and numbers four times smaller for the same bits; zero exponents are zero.
  const std::uint32_t bits = u[1] << 24 | u[0] << 16 | u[3] << 8 | u[2];
  if ((bits & 0x7f800000) == 0) return 0;
  const double mantissa = 1 + double(bits & 0x7fffff) / 8388608.0;
  const int exponent = int(bits >> 23 & 0xff) - 129;
  return std::ldexp(bits >> 31 ? -mantissa : mantissa, exponent);
}

Parameters read_parameters(Bytes& bytes, std::size_t start, capture::Report& report) {
  constexpr int kMost = 20000;  // groups and parameters; real files have a few hundred
  std::map<int, std::string> groups;
  std::vector<std::pair<int, std::pair<std::string, Parameter>>> found;
  std::size_t at = start + 4, left = bytes.size();
  for (int n = 0; n < kMost; ++n) {
    const auto length = static_cast<std::int8_t>(bytes.byte(at));
    const auto id = static_cast<std::int8_t>(bytes.byte(at + 1));
    if (bytes.bad || length == 0 || id == 0) break;
    const std::size_t letters = std::size_t(std::abs(int(length)));
    const std::string name = upper(clean_text(bytes.text(at + 2, letters)));
    const std::size_t link = at + 2 + letters;
    const std::uint16_t step = bytes.count(link);
    if (bytes.bad) break;
    if (id < 0) {
      groups[-int(id)] = name;
    } else {
      found.push_back({id, {name, read_values(bytes, link + 2, left)}});
      if (bytes.bad) break;
    }
    if (step == 0) break;
    at = link + step;
  }
  if (bytes.bad)
    report.error(0, capture::kParameter, found.empty() ? "" : found.back().second.first,
                 "a parameter extends beyond the end of the file, or overlaps another",
                 "the file is truncated or damaged");
  Parameters out;
  for (auto& [id, entry] : found) out.insert_or_assign(groups[id] + ":" + entry.first, std::move(entry.second));
  return out;
}

std::vector<std::string> texts_of(const Parameters& parameters, const std::string& group, const std::string& name) {
  return numbered(parameters, group + ":" + name, &Parameter::texts);
}
std::vector<double> numbers_of(const Parameters& parameters, const std::string& group, const std::string& name) {
  return numbered(parameters, group + ":" + name, &Parameter::numbers);
}

}  // namespace kansetsu::io::c3d
