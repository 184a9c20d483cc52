#include "codegen/source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>

#include "kansetsu/base/error.h"

namespace kansetsu::codegen {
namespace {

/// Names and expressions of the operations of one algorithm.
class Writer {
 public:
  explicit Writer(const Algorithm& algorithm)
      : algorithm_(algorithm), trace_(algorithm.trace), written_(std::size_t(trace_.size()), false) {
    const std::vector<bool> needed = trace_.needed_for(algorithm.results);
    for (Value id = 0; id < trace_.size(); ++id) {
      const Operation& x = trace_[id];
      if (!needed[std::size_t(id)] || (x.op != Op::kSin && x.op != Op::kCos)) continue;
      if (angles_.try_emplace(x.a, int(angles_.size())).second) angle_list_.push_back(x.a);
    }
  }

  const std::vector<Value>& angles() const { return angle_list_; }

  /// All operations that `results` need and that have not been written.
  std::string operations(const std::vector<Value>& results, int& count) {
    const std::vector<bool> now = trace_.needed_for(results);
    std::string out;
    for (Value id = 0; id < trace_.size(); ++id) {
      if (!now[std::size_t(id)] || written_[std::size_t(id)] || !has_name(id)) continue;
      written_[std::size_t(id)] = true;
      out += fmt::format("  const auto t{} = {};\n", id, expression(trace_[id]));
      ++count;
    }
    return out;
  }

  std::string name(Value id) const {
    const Operation& x = trace_[id];
    switch (x.op) {
      case Op::kConstant:
        return fmt::format("support::lift<T>({})", number(x.value));
      case Op::kInput:
        return fmt::format("{}[{}]", algorithm_.inputs[std::size_t(x.a)].name, x.b);
      case Op::kSin:
        return fmt::format("sines[{}]", angles_.at(x.a));
      case Op::kCos:
        return fmt::format("cosines[{}]", angles_.at(x.a));
      default:
        return fmt::format("t{}", id);
    }
  }

 private:
  bool has_name(Value id) const {
    const Op op = trace_[id].op;
    return op != Op::kConstant && op != Op::kInput && op != Op::kSin && op != Op::kCos;
  }
  /// The shortest text that a compiler reads as this double.
  static std::string number(double x) {
    if (!std::isfinite(x)) return std::isnan(x) ? "NAN" : x > 0 ? "HUGE_VAL" : "-HUGE_VAL";
    const std::string text = fmt::format("{}", x);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  /// C++ by fmt's rules: {0}, {1} and {2} are the operands.
  std::string expression(const Operation& x) const {
    static const std::map<Op, const char*> kTexts{{Op::kAdd, "{0} + {1}"},
                                                  {Op::kSub, "{0} - {1}"},
                                                  {Op::kMul, "{0} * {1}"},
                                                  {Op::kDiv, "{0} / {1}"},
                                                  {Op::kLess, "{0} < {1}"},
                                                  {Op::kLessEqual, "{0} <= {1}"},
                                                  {Op::kEqual, "{0} == {1}"},
                                                  {Op::kAnd, "{0} & {1}"},
                                                  {Op::kOr, "{0} | {1}"},
                                                  {Op::kNegate, "-{0}"},
                                                  {Op::kNot, "!{0}"},
                                                  {Op::kSqrt, "sqrt({0})"},
                                                  {Op::kMadd, "madd({0}, {1}, {2})"},
                                                  {Op::kMsub, "msub({0}, {1}, {2})"},
                                                  {Op::kSelect, "select({0}, {1}, {2})"}};
    const auto found = kTexts.find(x.op);
    if (found == kTexts.end()) throw Error("compile_model: an operation without an expression");
    const std::string_view text = found->second;
    const auto operand = [&](const char* mark, Value id) {
      return text.find(mark) == std::string_view::npos ? std::string() : name(id);
    };
    return fmt::format(fmt::runtime(text), operand("{0}", x.a), operand("{1}", x.b), operand("{2}", x.c));
  }

  const Algorithm& algorithm_;
  const Trace& trace_;
  std::map<Value, int> angles_;
  std::vector<Value> angle_list_;
  std::vector<bool> written_;
};

const char* requirement(Precision precision) {
  switch (precision) {
    case Precision::kDouble:
      return "\n  requires(sizeof(support::scalar_t<T>) == 8)";
    case Precision::kSingle:
      return "\n  requires(sizeof(support::scalar_t<T>) == 4)";
    case Precision::kAny:
      break;
  }
  return "";
}

std::string parameters(const Algorithm& algorithm, const char* type) {
  std::string out;
  for (const Argument& x : algorithm.inputs) out += fmt::format("[[maybe_unused]] const {}* {}, ", type, x.name);
  return out + fmt::format("{}* {}", type, algorithm.output.name);
}

/// Results that several numbers of the output share, once each, and which of them each number is.
struct Distinct {
  std::vector<Value> values;
  std::vector<int> order;

  explicit Distinct(const std::vector<Value>& results) {
    std::map<Value, int> place;
    for (const Value id : results) {
      const auto [at, is_new] = place.try_emplace(id, int(values.size()));
      if (is_new) values.push_back(id);
      order.push_back(at->second);
    }
  }
  /// Whether it pays to write them to memory once and copy them to the rows from there.
  bool few() const { return 2 * values.size() < order.size(); }
};

std::string write_rows(const Algorithm& algorithm, const Distinct& distinct) {
  const bool few = distinct.few();
  std::string sizes =
      fmt::format("{}, {}", algorithm.output.size, few ? distinct.values.size() : distinct.order.size());
  std::string names, packs, in, order = "nullptr", table;
  for (const Argument& x : algorithm.inputs) {
    sizes += fmt::format(", {}", x.size);
    names += fmt::format(", {}", x.name);
    packs += fmt::format("{}_packs, ", x.name);
    in += fmt::format("const auto* {}_packs, ", x.name);
  }
  if (few) {
    table = fmt::format("  static constexpr int values[] = {{{}}};\n", fmt::join(distinct.order, ", "));
    table +=
        "  static constexpr support::PackOrder<support::NativePack<Real>::width, int(std::size(values))> "
        "order(values);\n";
    order = "order.begins";
  }
  return fmt::format(R"(template <class Real>
inline void {0}(std::ptrdiff_t count, {1}) {{
{2}  support::for_rows<{3}>(
      count, {4}, {5}, []({6}auto* out) {{ COMPILED::{0}{7}({8}out); }}{9});
}}
)",
                     algorithm.name, parameters(algorithm, "Real"), table, sizes, algorithm.output.name, order, in,
                     few ? "<true>" : "", packs, names);
}

std::string write_outputs(const std::string& indent, const Algorithm& algorithm, const Writer& writer,
                          const std::vector<Value>& results) {
  std::string out;
  for (std::size_t i = 0; i < results.size(); ++i) {
    out += fmt::format("{}{}[{}] = {};\n", indent, algorithm.output.name, i, writer.name(results[i]));
  }
  return out;
}

}  // namespace

Source write_source(const Algorithm& algorithm) {
  Writer writer(algorithm);
  Source out;
  out.angles = int(writer.angles().size());
  std::string body = writer.operations(writer.angles(), out.operations);
  if (out.angles > 0) {
    constexpr int kLine = 16;  // numbers of the widest register
    body += fmt::format("  alignas(64) T angles[{0}] = {{}}, sines[{0}], cosines[{0}];\n",
                        (out.angles + kLine - 1) / kLine * kLine);
    for (int i = 0; i < out.angles; ++i) {
      body += fmt::format("  angles[{}] = {};\n", i, writer.name(writer.angles()[std::size_t(i)]));
    }
    body += fmt::format("  support::sincos_array(angles, {}, sines, cosines);\n", out.angles);
  }
  body += writer.operations(algorithm.results, out.operations);
  const Distinct distinct(algorithm.results);
  if (distinct.few()) {
    body += "  if constexpr (kDistinct) {\n" + write_outputs("    ", algorithm, writer, distinct.values);
    body += "  } else {\n" + write_outputs("    ", algorithm, writer, algorithm.results) + "  }\n";
  } else {
    body += write_outputs("  ", algorithm, writer, algorithm.results);
  }
  out.function = fmt::format(
      R"(/// {}{}. {} operations, {} sines and cosines.
template <{}class T>{}
inline void {}({}) {{
  using support::madd, support::msub, support::select, support::sqrt;
{}}}
)",
      algorithm.comment, algorithm.precision == Precision::kSingle ? ", in single precision" : "", out.operations,
      out.angles, distinct.few() ? "bool kDistinct = false, " : "", requirement(algorithm.precision), algorithm.name,
      parameters(algorithm, "T"), body);
  out.rows = write_rows(algorithm, distinct);
  return out;
}

}  // namespace kansetsu::codegen
