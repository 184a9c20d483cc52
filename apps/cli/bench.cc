/// kansetsu bench SUBJECT: measurements that need nothing but this program. Those beside other libraries are in script/bench.

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/json_writer.h"
#include "cli/output.h"
#include "cli/seed_plot.h"
#include "cli/suggest.h"
#include "kansetsu/ik/seed_experiment.h"

namespace kansetsu::cli {
namespace {

struct BenchArguments {
  std::string subject, svg;
  bool json = false;
};

std::string seed_table(const std::vector<ik::SeedRow>& rows) {
  const auto three = [](const std::array<double, 3>& x) {
    return fmt::format("{:9.3f} {:9.3f} {:9.3f}", x[0], x[1], x[2]);
  };
  std::string text =
      "RMS of (steps - ideal), 100 trials a run           as the seed counts                  fair counting            "
      " time\n"
      "                                              A         B         C          A         B         C        "
      "us/step\n";
  const auto line = [&](std::string_view name, const std::string& a, const std::string& b, const std::string& time) {
    text += fmt::format("{:<36} {}  {:>29}  {:>10}\n", name, a, b, time);
  };
  line("log quaternion, as printed in the seed", three(ik::kSeedLogQuaternion), "", "19-22");
  line("Euler, as printed in the seed", three(ik::kSeedEuler), "", "22-25");
  for (const ik::SeedRow& r : rows) {
    line(r.name, three(r.seed_rms), three(r.fair_rms), fmt::format("{:.2f}", r.us_per_update));
  }
  return text;
}

std::string seed_json(const std::vector<ik::SeedRow>& rows) {
  JsonWriter json;
  json.begin_object().key("rows").begin_array();
  for (const ik::SeedRow& r : rows) {
    json.line().begin_object().entry("name", r.name).entry("single", r.single);
    json.key("seed_rms").array(r.seed_rms).key("fair_rms").array(r.fair_rms).entry("us_per_update", r.us_per_update);
    json.end_object();
  }
  return json.end_array().end_object().take() + "\n";
}

Exit bench(const BenchArguments& options) {
  static const std::vector<std::string> kSubjects{"ik-seed"};
  if (options.subject != kSubjects.front())
    throw Failure(kBadUsage, unknown_name("subject", options.subject, kSubjects));
  const std::vector<ik::SeedRow> rows = ik::seed_experiment();
  print(options.json ? seed_json(rows) : seed_table(rows));
  if (!options.svg.empty()) {
    Output out(options.svg);
    out.write(seed_plot(rows));
    out.commit();
  }
  return kOk;
}

}  // namespace

Runner declare_bench(Arguments& args) {
  auto options = std::make_shared<BenchArguments>();
  args.add("SUBJECT", options->subject, "ik-seed: the experiment of seed 001").required().type_name("ik-seed");
  args.add_flag("--json", options->json, "print numbers for machines");
  args.add("--svg", options->svg, "draw the measured numbers").type_name("FILE");
  return [options] { return bench(*options); };
}

}  // namespace kansetsu::cli
