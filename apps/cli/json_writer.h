#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <string_view>

#include "kansetsu/spatial/vec3.h"

namespace kansetsu::cli {

/// Writes JSON piece by piece. Numbers are the shortest that read back to the same bits; text that is not UTF-8 is replaced by
/// U+FFFD. Numbers that JSON does not have (infinite, not a number) become null, and finite() is false then.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(double x);
  JsonWriter& value(int x);
  JsonWriter& value(bool x);
  JsonWriter& value(const Vec3<>& x);
  JsonWriter& value(const Eigen::Ref<const Eigen::VectorXd>& x);
  /// @param of  makes the value that is written from an element
  template <class Range, class Of = std::identity>
  JsonWriter& array(const Range& range, const Of& of = {}) {
    begin_array();
    for (const auto& x : range) value(std::invoke(of, x));
    return end_array();
  }
  /// An array of rows.
  JsonWriter& matrix(const Eigen::Ref<const Eigen::MatrixXd>& x);

  template <class T>
  JsonWriter& entry(std::string_view name, const T& x) {
    return key(name).value(x);
  }
  /// A value that is already JSON.
  JsonWriter& raw(std::string_view json);
  /// Starts a new line.
  JsonWriter& line();

  bool finite() const { return finite_; }
  /// What has been written since the last call.
  std::string take();

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  void separate();
  void quote(std::string_view text);

  std::string text_;
  bool finite_ = true;
  bool line_ = false;
  bool first_ = true;  ///< the next value needs no comma before it
};

}  // namespace kansetsu::cli
