#include "kansetsu/codegen/compile_model.h"

#include <fmt/format.h>

#include <cctype>

#include "codegen/source.h"
#include "codegen/support.h"
#include "kansetsu/base/error.h"

namespace kansetsu {
namespace {

bool in_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string identifier_from(std::string name) {
  for (char& c : name) {
    if (!in_identifier(c)) c = '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "_" + name;
  return name + "_model";  // no word of the language, no function of the library
}

/// Words of C++20 that no namespace can have, and std, which is another's.
bool is_word_of_the_language(std::string_view name) {
  static constexpr std::string_view kWords =
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
      "compl "
      "concept const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype default "
      "delete "
      "do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable "
      "namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
      "requires return short signed sizeof static static_assert static_cast std struct switch template this "
      "thread_local "
      "throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq ";
  return kWords.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

void check_identifier(const std::string& name) {
  bool good = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
  for (const char c : name) good = good && in_identifier(c);
  if (good && is_word_of_the_language(name))
    throw Error("compile_model: the name '" + name + "' is a word of C++ and cannot be that of a namespace");
  if (!good) throw Error("compile_model: the name '" + name + "' is not an identifier: use letters, digits and _");
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

CompiledModel compile_model(const Model& model, std::string name) {
  if (name.empty()) name = identifier_from(model.name());
  check_identifier(name);
  if (model.nv() > kMostCompiledColumns) {
    throw Error(
        fmt::format("compile_model: '{}' has {} velocities, more than the {} that a compiler takes in good time; "
                    "use rnea(), crba() and aba()",
                    model.name(), model.nv(), kMostCompiledColumns));
  }
  CompiledModel out;
  out.name = name;
  std::string functions, rows;
  for (const codegen::Algorithm& algorithm : codegen::trace_algorithms(model)) {
    const codegen::Source source = codegen::write_source(algorithm);
    functions += source.function + "\n";
    if (algorithm.precision == codegen::Precision::kSingle) continue;  // its rows are those of double precision
    rows += source.rows + "\n";
    (algorithm.name == "rnea"   ? out.rnea_operations
     : algorithm.name == "crba" ? out.crba_operations
                                : out.aba_operations) = source.operations;
    out.angles = std::max(out.angles, source.angles);
  }
  replace_all(rows, "COMPILED", name);
  std::string title = model.name();  // one line of a comment
  for (char& c : title) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  const codegen::Support support = codegen::support();
  out.text = fmt::format(R"(// Dynamics of '{0}', written by `kansetsu compile`; do not edit.
//
//   {1}::aba(q, v, tau, vdot);                one state: pointers to double or float
//   {1}::batch::aba(count, q, v, tau, vdot);  rows of states, a register full at a time
//
// and so rnea(q, v, vdot, tau) and crba(q, M). Needs C++20, gcc or clang, and no other file. Registers are as wide as the compiler may
// use: -O3 -march=native, or -mavx2 -mfma.
#pragma once

{2}
namespace {1} {{
namespace support {{
{3}
}}  // namespace support

inline constexpr int nq = {4}, nv = {5};

{6}/// Rows of states, {4} or {5} numbers each, one behind the other.
namespace batch {{

{7}}}  // namespace batch
}}  // namespace {1}
)",
                         title, name, support.preamble, support.text, model.nq(), model.nv(), functions, rows);
  return out;
}

}  // namespace kansetsu
