#include "report.h"

#include <cmath>
#include <cstdio>
#include <ctime>

namespace kansetsu::bench {
namespace {

const char* name_of(cuda::Mapping mapping) {
  switch (mapping) {
    case cuda::Mapping::kState:
      return "state";
    case cuda::Mapping::kLimb:
      return "limb";
    case cuda::Mapping::kMeasured:
      break;
  }
  return "measured";
}

}  // namespace

/// Well-conditioned results carry rounding of a few hundred operations. Others may be off by what the result itself is
/// uncertain: 20 times what it changes if its input changes by one unit in the last place.
bool Row::right() const {
  const bool fp64 = precision == "fp64";
  const double overall = fp64 ? std::max(1e-11, 20 * error.sensitivity) : 2e-3;
  const double worst = fp64 ? std::max(1e-8, 20 * error.worst_sensitivity) : 5e-2;
  return error.overall <= overall && error.worst <= worst;
}

Report::Report(std::string device, std::string command) : device_(std::move(device)), command_(std::move(command)) {
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  date_ = date;
  std::printf("%-10s %-20s %-4s %-6s %8s %-8s %3s %2s %2s %7s %10s %10s %9s %9s %9s\n", "model", "algo", "prec",
              "layout", "states", "mapping", "thr", "bl", "st", "chunk", "device 1/s", "host 1/s", "error", "worst",
              "one ulp");
}

void Report::add(const Row& r) {
  if (!quiet_ || !r.right()) print(r);
  rows_.push_back(json(r));
  wrong_ += r.right() ? 0 : 1;
}

void Report::print(const Row& r) const {
  std::printf("%-10s %-20s %-4s %-6s %8ld %-8s %3d %2d %2d %7ld %10.4g %10.4g %9.1e %9.1e %9.1e%s\n", r.model.c_str(),
              r.algo.c_str(), r.precision.c_str(), r.layout.c_str(), r.states, name_of(r.options.mapping),
              r.options.threads_per_block, r.options.blocks_per_multiprocessor, r.options.states_per_block,
              long(r.options.chunk), r.device_rate, r.host_rate, r.error.overall, r.error.worst, r.error.sensitivity,
              r.right() ? "" : "  WRONG");
  std::fflush(stdout);
}

std::string Report::json(const Row& r) const {
  char text[1200];
  std::snprintf(
      text, sizeof text,
      "{\"model\": \"%s\", \"algo\": \"%s\", \"precision\": \"%s\", \"layout\": \"%s\", \"states\": %ld, "
      "\"device\": \"%s\", \"date\": \"%s\", \"command\": \"%s\", \"mapping\": \"%s\", "
      "\"threads_per_block\": %d, \"blocks_per_multiprocessor\": %d, \"states_per_block\": %d, \"chunk\": %ld, "
      "\"states_per_s_device\": %.6g, \"states_per_s_host\": %s, "
      "\"checked\": %ld, \"error\": %.3g, \"error_worst\": %.3g, \"sensitivity\": %.3g, \"right\": %s}",
      r.model.c_str(), r.algo.c_str(), r.precision.c_str(), r.layout.c_str(), r.states, device_.c_str(), date_.c_str(),
      command_.c_str(), name_of(r.options.mapping), r.options.threads_per_block, r.options.blocks_per_multiprocessor,
      r.options.states_per_block, long(r.options.chunk), r.device_rate,
      r.host_rate > 0 ? std::to_string(r.host_rate).c_str() : "null", r.error.checked,
      std::isnan(r.error.overall) ? 1e300 : r.error.overall, r.error.worst, r.error.sensitivity,
      r.right() ? "true" : "false");
  return text;
}

void Report::write(const std::string& path) const {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) throw Error("cannot write " + path);
  std::fprintf(file, "[\n");
  for (size_t i = 0; i < rows_.size(); ++i) {
    std::fprintf(file, "  %s%s\n", rows_[i].c_str(), i + 1 < rows_.size() ? "," : "");
  }
  std::fprintf(file, "]\n");
  std::fclose(file);
}

}  // namespace kansetsu::bench
