#include "codegen/support.h"

#include <set>
#include <sstream>

#include "codegen/support_files.h"

namespace kansetsu::codegen {
namespace {

bool begins(const std::string& line, const char* with) { return line.rfind(with, 0) == 0; }

/// Whatever must not stand in a namespace goes to `includes` or nowhere; the library's own namespace is left out.
void take_in(std::istream& in, std::set<std::string>& includes, std::string& text) {
  bool in_namespace = false;
  for (std::string line; std::getline(in, line);) {
    if (begins(line, "#include <")) {
      if (line != "#include <immintrin.h>") includes.insert(line);
    } else if (begins(line, "namespace kansetsu")) {
      in_namespace = true;
    } else if (begins(line, "}  // namespace kansetsu")) {
      in_namespace = false;
    } else if (in_namespace) {
      text += line + "\n";
    }
  }
}

}  // namespace

Support support() {
  Support out;
  std::set<std::string> includes;
  for (const char* file : kSupportFiles.headers) {
    std::istringstream in(file);
    take_in(in, includes, out.text);
  }
  for (const std::string& line : includes) out.preamble += line + "\n";
  out.preamble += "#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\n\n#if !defined(KANSETSU_HD)\n";
  std::istringstream macros(kSupportFiles.macros);
  for (std::string line; std::getline(macros, line);) {
    if (!begins(line, "#pragma once")) out.preamble += line + "\n";
  }
  out.preamble += "#endif\n";
  return out;
}

}  // namespace kansetsu::codegen
