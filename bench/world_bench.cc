// Worlds with contacts, step by step: a figure standing under torque noise, a grip made and cut, stacks and piles; compared with
// MuJoCo if its library is given, alternating in the same run. Both engines are deterministic: a run is repeated, and the shortest
// time of each step counts, which excludes other programs.
//
//   bench_world [--humanoid FILE] [--rounds N] [--only NAME] [--alone] [--json FILE]
//
// --humanoid is MuJoCo's humanoid.xml; both engines read the same file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "world_runners.h"

namespace {

using namespace bench;

double mean(const std::vector<double>& x) {
  double sum = 0;
  for (const double a : x) sum += a;
  return sum / double(x.size());
}
double quantile(std::vector<double> x, double share) {
  const auto at = x.begin() + long(share * double(x.size() - 1));
  std::nth_element(x.begin(), at, x.end());
  return *at;
}

/// Shortest time of every step [µs], per runner.
std::vector<std::vector<double>> measure(const std::vector<std::unique_ptr<Runner>>& runners, int rounds) {
  std::vector<std::vector<double>> best;
  for (const auto& r : runners) best.emplace_back(size_t(r->steps()), 1e30);
  for (int round = 0; round < rounds; ++round) {
    for (size_t r = 0; r < runners.size(); ++r) {
      runners[r]->reset();
      for (int i = 0; i < runners[r]->steps(); ++i) {
        runners[r]->before(i);
        const auto begin = Clock::now();
        runners[r]->step(i);
        const std::chrono::duration<double, std::micro> time = Clock::now() - begin;
        best[r][size_t(i)] = std::min(best[r][size_t(i)], time.count() / runners[r]->worlds());
      }
    }
  }
  return best;
}

/// Cost of reading the clock [µs].
double clock_time() {
  double best = 1e30;
  for (int i = 0; i < 100'000; ++i) {
    const auto begin = Clock::now();
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  return best;
}

nlohmann::json row(const std::string& scenario, const Runner& runner, const std::vector<double>& time, double clock,
                   const Quality& q) {
  clock /= runner.worlds();
  const double average = mean(time) - clock;
  return {{"scenario", scenario},
          {"worlds", runner.worlds()},
          {"lanes", q.lanes},
          {"engine", runner.engine()},
          {"steps", runner.steps()},
          {"mean_us", average},
          {"median_us", quantile(time, 0.5) - clock},
          {"p99_us", quantile(time, 0.99) - clock},
          {"steps_per_second", 1e6 / average},
          {"real_time", 1e6 * runner.time_step() / average},
          {"contacts", q.contacts},
          {"penetration_mm", 1e3 * q.penetration},
          {"drift_mm", 1e3 * q.drift},
          {"energy_error_J", q.energy_error},
          {"residual", q.residual},
          {"tiers", q.tiers}};
}

void print(const nlohmann::json& r) {
  const auto number = [&](const char* key) { return r[key].get<double>(); };
  std::string tiers;
  for (const auto& t : r["tiers"]) tiers += (tiers.empty() ? "" : "/") + std::to_string(t.get<std::uint64_t>());
  std::printf("%-22s %-9s %8.2f %8.2f %8.2f %9.0f %7.2f %6.1f %8.4f %9.2g %9.2g  %s\n",
              r["scenario"].get<std::string>().c_str(), r["engine"].get<std::string>().c_str(), number("mean_us"),
              number("median_us"), number("p99_us"), number("steps_per_second"), number("real_time"),
              number("contacts"), number("penetration_mm"), number("energy_error_J"), number("residual"),
              tiers.c_str());
  if (r["worlds"].get<int>() > 1)
    std::printf("%-22s per world and step, of %d; %.1f %% of the steps in lanes\n", "", r["worlds"].get<int>(),
                100 * number("lanes"));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("worlds with contacts, step by step");
  std::string humanoid, only, json;
  bool alone = false;
  int rounds = 5;
  app.add_option("--humanoid", humanoid, "MuJoCo's humanoid.xml");
  app.add_option("--rounds", rounds);
  app.add_option("--only", only, "only scenarios whose name begins so");
  app.add_flag("--alone", alone, "without the peer");
  app.add_option("--json", json, "write the rows here, too");
  CLI11_PARSE(app, argc, argv);

  const double clock = clock_time();
  nlohmann::json rows = nlohmann::json::array();
  std::printf("%-22s %-9s %8s %8s %8s %9s %7s %6s %8s %9s %9s  %s\n", "", "", "mean us", "median", "p99", "steps/s",
              "x real", "cont.", "pen. mm", "E err. J", "residual", "tiers");
  for (const Scenario& scenario : scenarios(humanoid)) {
    if (scenario.name.rfind(only, 0) != 0) continue;
    std::vector<std::unique_ptr<Runner>> runners = scenario.make();
    if (alone) runners.resize(1);
    const std::vector<std::vector<double>> times = measure(runners, scenario.slow ? std::min(rounds, 3) : rounds);
    for (size_t i = 0; i < runners.size(); ++i) {
      rows.push_back(row(scenario.name, *runners[i], times[i], clock, runners[i]->observe()));
      print(rows.back());
    }
    if (scenario.compare == Scenario::Compare::kAddedTime) {
      for (size_t i = 0; i + 1 < runners.size(); i += 2) {
        const double added = (mean(times[i]) - clock) / (mean(times[i + 1]) - clock) - 1;
        rows[rows.size() - runners.size() + i]["added_time"] = added;
        std::printf("%-22s %s take %+.1f %% of %s\n", "", runners[i]->engine().c_str(), 100 * added,
                    runners[i + 1]->engine().c_str());
      }
      continue;
    }
    if (runners.size() < 2) continue;
    const double ratio = (mean(times[1]) - clock) / (mean(times[0]) - clock);
    rows[rows.size() - 2]["ratio"] = ratio;
    std::printf("%-22s %.2f times as fast; difference %.3f us\n", "", ratio, mean(times[1]) - mean(times[0]));
  }
  if (!json.empty()) std::ofstream(json) << rows.dump(1) << '\n';
}
