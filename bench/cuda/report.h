#pragma once

#include <string>
#include <vector>

#include "reference.h"

namespace kansetsu::bench {

struct Row {
  std::string model, algo, precision, layout;
  long states;
  double device_rate, host_rate;
  Deviation error;
  cuda::Options options;

  bool right() const;
};

/// Prints rows as they come, and keeps them for a file.
class Report {
 public:
  Report(std::string device, std::string command);

  /// Prints only what is wrong from here on.
  void be_quiet() { quiet_ = true; }
  int rows() const { return int(rows_.size()); }
  void add(const Row& r);
  int wrong() const { return wrong_; }
  void write(const std::string& path) const;

 private:
  void print(const Row& r) const;
  std::string json(const Row& r) const;

  std::string device_, command_, date_;
  std::vector<std::string> rows_;
  int wrong_ = 0;
  bool quiet_ = false;
};

}  // namespace kansetsu::bench
