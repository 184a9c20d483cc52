#include "cli/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/command.h"
#include "cli/utf8.h"

namespace kansetsu::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kDeepest = 100;

/// The input of the parser, with a count of the characters read.
struct CountedCharacter {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  std::size_t* count;

  reference operator*() const { return *at; }
  CountedCharacter& operator++() {
    ++at;
    ++*count;
    return *this;
  }
  friend bool operator==(const CountedCharacter& a, const CountedCharacter& b) { return a.at == b.at; }
};

/// The parser's message without its name and position.
std::string description(std::string_view token, std::string_view what) {
  const auto cut_through = [&](std::string_view mark) {
    if (const std::size_t found = what.find(mark); found != std::string_view::npos)
      what.remove_prefix(found + mark.size());
  };
  cut_through("] ");
  if (what.starts_with("parse error")) cut_through(": ");
  std::string text(what);
  if (token.starts_with('-')) token.remove_prefix(1);
  if (token.starts_with('N') || token.starts_with("na") || token.starts_with('I') || token.starts_with('i'))
    text += "; JSON has no NaN or Infinity";
  return text;
}

/// Builds the value from the parser's events and keeps the first error.
class Builder : public nlohmann::json_sax<json> {
 public:
  json result;
  std::string problem;

  bool null() override { return add(json(nullptr)); }
  bool boolean(bool x) override { return add(json(x)); }
  bool number_integer(std::int64_t x) override { return add(json(x)); }
  bool number_unsigned(std::uint64_t x) override { return add(json(x)); }
  bool number_float(double x, const std::string&) override { return add(json(x)); }
  bool string(std::string& x) override { return add(json(std::move(x))); }
  bool binary(json::binary_t&) override { return false; }  // JSON text has none
  bool start_object(std::size_t) override { return open(json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    json& object = *open_.back();
    if (object.contains(name)) return refuse(fmt::format("'{}' is given twice in one object", name));
    slot_ = &object[name];
    return true;
  }
  bool parse_error(std::size_t, const std::string& token, const nlohmann::detail::exception& error) override {
    return refuse(description(token, error.what()));
  }

 private:
  bool refuse(std::string what) {
    problem = std::move(what);
    return false;
  }
  json* place(json&& value) {
    if (open_.empty()) return &(result = std::move(value));
    if (open_.back()->is_array()) return &open_.back()->emplace_back(std::move(value));
    return &(*slot_ = std::move(value));
  }
  bool add(json&& value) {
    place(std::move(value));
    return true;
  }
  bool open(json&& value) {
    if (open_.size() == kDeepest) return refuse(fmt::format("nested deeper than {} levels", kDeepest));
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<json*> open_;  ///< the enclosing objects and arrays; their addresses are stable while they are open
  json* slot_ = nullptr;     ///< of the last key
};

/// "LINE:COLUMN" of the last of `count` characters.
std::string place_of(std::string_view text, std::size_t count) {
  const std::string_view before = text.substr(0, count > 0 ? count - 1 : 0);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') + 1;  // 0 if there is none
  return fmt::format("{}:{}", line, width(before.substr(start)) + 1);
}

}  // namespace

json parse_json(const std::string& text, const std::string& name) {
  Builder builder;
  std::size_t count = 0;
  const CountedCharacter begin{text.data(), &count}, end{text.data() + text.size(), &count};
  if (json::sax_parse(begin, end, &builder)) return std::move(builder.result);
  throw Failure(kBadFile, fmt::format("{}:{}: error: {}", name, place_of(text, count), builder.problem));
}

}  // namespace kansetsu::cli
