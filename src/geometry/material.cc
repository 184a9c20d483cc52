#include "kansetsu/geometry/material.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"

namespace kansetsu {
namespace {

double combine(double a, double b, CombineRule rule) {
  switch (rule) {
    case CombineRule::kGeometricMean:
      return std::sqrt(a * b);
    case CombineRule::kMean:
      return 0.5 * (a + b);
    case CombineRule::kMinimum:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

void check(const ContactMaterial& m) {
  const auto fine = [](double x) { return std::isfinite(x) && x >= 0; };
  if (fine(m.mu_s) && fine(m.mu_d) && fine(m.restitution) && fine(m.spin_radius) && fine(m.rolling_radius) &&
      fine(m.clearance) && m.mu_d <= m.mu_s && m.restitution <= 1)
    return;
  throw Error(
      fmt::format("ContactMaterial: mu_s {}, mu_d {}, restitution {}, spin_radius {}, rolling_radius {}, clearance {}; "
                  "expected finite numbers, at least 0, mu_d ≤ mu_s and restitution ≤ 1",
                  m.mu_s, m.mu_d, m.restitution, m.spin_radius, m.rolling_radius, m.clearance));
}

}  // namespace

ContactMaterial combine(const ContactMaterial& a, const ContactMaterial& b, const CombineRules& rules) {
  return {combine(a.mu_s, b.mu_s, rules.friction),
          combine(a.mu_d, b.mu_d, rules.friction),
          combine(a.restitution, b.restitution, rules.restitution),
          combine(a.spin_radius, b.spin_radius, rules.spin_radius),
          combine(a.rolling_radius, b.rolling_radius, rules.rolling_radius),
          a.clearance + b.clearance};
}

MaterialTable::MaterialTable(const CombineRules& rules) : rules_(rules) { add({}); }

void MaterialTable::check_id(const char* function, MaterialId id) const {
  if (id.value() < 0 || id.value() >= size())
    throw Error(fmt::format("MaterialTable::{}: there is no material {}, only {}", function, id.value(), size()));
}

MaterialId MaterialTable::add(ContactMaterial material) {  // by value: it may be one of the table's own
  check(material);
  const int n = size();
  std::vector<Pair> pairs(std::size_t(n + 1) * std::size_t(n + 1));
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) pairs[std::size_t(a) * std::size_t(n + 1) + std::size_t(b)] = entry(a, b);
  }
  materials_.push_back(material);
  pairs_ = std::move(pairs);
  set(MaterialId(n), material);
  return MaterialId(n);
}

void MaterialTable::set(MaterialId id, const ContactMaterial& material) {
  check_id("set", id);
  check(material);
  materials_[std::size_t(id.value())] = material;
  for (int other = 0; other < size(); ++other) {
    const ContactMaterial both = combine(material, materials_[std::size_t(other)], rules_);
    for (Pair* pair : {&entry(id.value(), other), &entry(other, id.value())}) {
      if (!pair->overridden) pair->value = both;
    }
  }
}

void MaterialTable::set_pair(MaterialId a, MaterialId b, const ContactMaterial& material) {
  check_id("set_pair", a);
  check_id("set_pair", b);
  check(material);
  entry(a.value(), b.value()) = entry(b.value(), a.value()) = {material, true};
}

double MaterialTable::largest_clearance() const {
  double largest = 0;
  for (const Pair& pair : pairs_) largest = std::max(largest, pair.value.clearance);
  return largest;
}

const ContactMaterial& MaterialTable::material(MaterialId id) const {
  check_id("material", id);
  return materials_[std::size_t(id.value())];
}

}  // namespace kansetsu
