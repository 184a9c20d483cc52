#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Limp figures and heaps that fall on hard ground: how well their contacts are solved, what happens to their energy, what a step
/// costs. docs/validation_contact.md holds the table.
namespace kansetsu::test {

struct FallReport {
  std::string what;
  int falls = 0;
  long steps = 0, contacts = 0, unsolved = 0, resting_unsolved = 0;
  double worst_residual = 0;                        ///< [m/s]
  double penetration = 0, resting_penetration = 0;  ///< deepest [m]; in the last quarter of the time
  double gain = 0;          ///< largest gain of energy in a step beyond the work of all torques [J]
  double unexplained = 0;   ///< energy at the end that the ledger does not explain, largest of the falls [J]
  double scale = 0;         ///< energy that falls [J]
  double kinetic = 0;       ///< at the end, largest of the falls [J]
  double microseconds = 0;  ///< per step
  double systems = 0;       ///< linear systems of the contact solver, per step with contacts
  std::string failure{};
};

/// Whether a name is that of a heap: a kind of bodies and their number, as in "boxes 30".
bool is_heap(std::string_view name);
/// Names of the falls there are; those of recorded robots only where their folder is.
std::vector<std::string> falls(const std::optional<std::filesystem::path>& data);
FallReport fall(const std::string& name, int count, double seconds, double h,
                const std::optional<std::filesystem::path>& data);

}  // namespace kansetsu::test
