#pragma once

#include <vector>

#include "kansetsu/base/id.h"

/// Contact properties of surfaces.
namespace kansetsu {

struct ContactMaterial {
  double mu_s = 0.8;          ///< static friction
  double mu_d = 0.8;          ///< dynamic friction, mu_s at most
  double restitution = 0;     ///< 0…1
  double spin_radius = 0;     ///< radius of the patch that resists spin where the contact is a point [m]
  double rolling_radius = 0;  ///< lever of the moment that resists rolling: how far the pressure moves ahead [m]
  double clearance = 0;       ///< shapes touch when they are this far apart [m]
  friend bool operator==(const ContactMaterial&, const ContactMaterial&) = default;
};

using MaterialId = Id<struct MaterialTag>;

/// How one number of a pair follows from those of the two materials.
enum class CombineRule { kGeometricMean, kMean, kMinimum, kMaximum };

struct CombineRules {
  CombineRule friction = CombineRule::kGeometricMean;
  CombineRule restitution = CombineRule::kGeometricMean;
  CombineRule spin_radius = CombineRule::kMaximum;
  CombineRule rolling_radius = CombineRule::kMaximum;
};

/// Clearances add up for all rules.
ContactMaterial combine(const ContactMaterial& a, const ContactMaterial& b, const CombineRules& rules = {});

/// The materials of a world and, precomputed, those of all pairs. Material 0 always exists: the default.
class MaterialTable {
 public:
  explicit MaterialTable(const CombineRules& rules = {});

  /// Throws Error unless all numbers are finite and ≥ 0, mu_d ≤ mu_s and restitution ≤ 1.
  MaterialId add(ContactMaterial material);
  void set(MaterialId id, const ContactMaterial& material);
  /// Overrides the rules for a pair, in both orders; a material may be paired with itself.
  void set_pair(MaterialId a, MaterialId b, const ContactMaterial& material);

  int size() const { return int(materials_.size()); }
  const ContactMaterial& material(MaterialId id) const;
  /// Of all pairs.
  double largest_clearance() const;
  /// O(1), checks nothing.
  const ContactMaterial& pair(MaterialId a, MaterialId b) const {
    return pairs_[std::size_t(a.value()) * materials_.size() + std::size_t(b.value())].value;
  }

 private:
  struct Pair {
    ContactMaterial value;
    bool overridden = false;
  };
  void check_id(const char* function, MaterialId id) const;
  Pair& entry(int a, int b) { return pairs_[std::size_t(a) * materials_.size() + std::size_t(b)]; }

  CombineRules rules_;
  std::vector<ContactMaterial> materials_;
  std::vector<Pair> pairs_;  ///< size × size
};

}  // namespace kansetsu
