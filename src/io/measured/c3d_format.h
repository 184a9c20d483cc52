#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/capture/capture_reader.h"

/// Bytes and parameters of C3D files: blocks of 512 bytes, words as one of three processors has them.
/// Source: The C3D File Format User Guide (Motion Lab Systems), sections header, parameters, data.
namespace kansetsu::io::c3d {

inline constexpr std::size_t kBlock = 512;
enum class Processor : std::uint8_t { kIntel = 84, kDec = 85, kSgi = 86 };

/// Numbers at places of a text of bytes. Nothing is read beyond its end: `bad` is set, and zero returned.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  std::size_t size() const { return bytes_.size(); }
  std::string_view text(std::size_t at, std::size_t size);
  std::uint8_t byte(std::size_t at);
  std::int16_t word(std::size_t at);
  std::uint16_t count(std::size_t at) { return static_cast<std::uint16_t>(word(at)); }
  double real(std::size_t at);

  Processor processor = Processor::kIntel;
  bool bad = false;

 private:
  std::string_view bytes_;
};

/// One parameter: numbers, or texts.
struct Parameter {
  std::vector<int> dims{};
  std::vector<double> numbers{};     ///< the first index is the fastest
  std::vector<std::string> texts{};  ///< of characters: one per row, without blanks at the end

  double number(std::size_t i, double otherwise = 0) const { return i < numbers.size() ? numbers[i] : otherwise; }
  int dim(std::size_t i) const { return i < dims.size() ? dims[i] : 1; }
};

/// "POINT:RATE" and so on, in capitals.
using Parameters = std::map<std::string, Parameter, std::less<>>;

/// Groups and parameters from a place on; problems are reported, and what could be read is kept.
Parameters read_parameters(Bytes& bytes, std::size_t start, capture::Report& report);

/// The texts of LABELS, LABELS2, LABELS3, … of a group one after the other, or the numbers of such parameters.
std::vector<std::string> texts_of(const Parameters& parameters, const std::string& group, const std::string& name);
std::vector<double> numbers_of(const Parameters& parameters, const std::string& group, const std::string& name);

}  // namespace kansetsu::io::c3d
