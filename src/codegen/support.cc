#include "codegen/support.h"

#include <set>
#include <string_view>

#include "codegen/support_files.h"

namespace kansetsu::codegen {
namespace {

/// Not by a stream: if memory runs out, std::getline() ends without an error, and half of the text would be missing.
template <class F>
void for_each_line(std::string_view text, const F& f) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    f(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

void append_line(std::string& out, std::string_view line) { (out += line) += '\n'; }

/// Whatever must not stand in a namespace goes to `includes` or nowhere; the library's own namespace is left out.
void take_in(std::string_view file, std::set<std::string>& includes, std::string& text) {
  bool in_namespace = false;
  for_each_line(file, [&](std::string_view line) {
    if (line.starts_with("#include <")) {
      if (line != "#include <immintrin.h>") includes.emplace(line);
    } else if (line.starts_with("namespace kansetsu")) {
      in_namespace = true;
    } else if (line.starts_with("}  // namespace kansetsu")) {
      in_namespace = false;
    } else if (in_namespace) {
      append_line(text, line);
    }
  });
}

}  // namespace

Support support() {
  Support out;
  std::set<std::string> includes;
  for (const char* file : kSupportFiles.headers) take_in(file, includes, out.text);
  for (const std::string& line : includes) append_line(out.preamble, line);
  out.preamble += "#if defined(__x86_64__)\n#include <immintrin.h>\n#endif\n\n#if !defined(KANSETSU_HD)\n";
  for_each_line(kSupportFiles.macros, [&](std::string_view line) {
    if (!line.starts_with("#pragma once")) append_line(out.preamble, line);
  });
  out.preamble += "#endif\n";
  return out;
}

}  // namespace kansetsu::codegen
