#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Arrays of NumPy from a ZIP file, as numpy.savez, numpy.savez_compressed and our recorder write them.
namespace kansetsu::io {

struct NpzArray {
  std::vector<double> numbers{};      ///< of '<f8', '<f4', '<i8' and '<i4', row by row
  std::vector<std::string> texts{};   ///< of '<Un' and '|Sn'
  std::size_t rows = 0, columns = 1;  ///< of more than two dimensions, the second and those after it together
};

struct NpzFile {
  std::map<std::string, NpzArray> arrays{};     ///< by name, without .npy
  std::map<std::string, std::string> unread{};  ///< arrays of other types, or damaged: their type as NumPy writes it
  std::string problem{};                        ///< why the file could not be read; empty: it could
};
NpzFile parse_npz(std::string_view bytes);

}  // namespace kansetsu::io
