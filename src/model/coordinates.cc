#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "model/compile.h"

namespace kansetsu {
namespace {

using Row = Model::Row;

/// Adds ratio·row to the sum, merging terms of the same column.
void accumulate(Row& sum, double ratio, const Row& row) {
  sum.offset += ratio * row.offset;
  for (const auto& [column, r] : row.terms) {
    auto it = std::ranges::find_if(sum.terms, [c = column](const auto& t) { return t.first == c; });
    if (it == sum.terms.end()) {
      sum.terms.emplace_back(column, ratio * r);
    } else {
      it->second += ratio * r;
    }
  }
}

/// Couplings by (joint index, coordinate).
class CouplingTable {
 public:
  CouplingTable(const ModelDescription& d) {
    for (int i = 0; i < int(d.joints.size()); ++i) joint_[d.joints[size_t(i)].name] = i;
    for (const Coupling& c : d.couplings) couplings_[{joint_.at(c.dependent.joint), c.dependent.index}] = &c;
  }
  const Coupling* find(int joint, int index) const {
    const auto it = couplings_.find({joint, index});
    return it == couplings_.end() ? nullptr : it->second;
  }
  int joint(const std::string& name) const { return joint_.at(name); }

 private:
  std::unordered_map<std::string, int> joint_;
  std::map<std::pair<int, int>, const Coupling*> couplings_;
};

void name_base(Coordinates& out) {
  out.base = {0, 7, 0, 6};
  out.nq = 7;
  out.nv = 6;
  for (const char* part : {"omega_x", "omega_y", "omega_z", "v_x", "v_y", "v_z"}) {
    out.dof_names.push_back(std::string("base.") + part);
    out.position_of_column.push_back(-1);
  }
}

}  // namespace

Coordinates assign_coordinates(const ModelDescription& d) {
  Coordinates out;
  const CouplingTable couplings(d);
  if (d.base == Base::kFree) name_base(out);

  const int n = int(d.joints.size());
  out.joints.resize(size_t(n));
  out.rows.resize(size_t(n));
  for (int j = 0; j < n; ++j) {
    const JointDescription& joint = d.joints[size_t(j)];
    const JointTypeInfo& type = info(joint.type);
    CoordinateRange& range = out.joints[size_t(j)];
    out.rows[size_t(j)].resize(size_t(type.nv));
    range.q = out.nq;
    range.v = out.nv;
    for (int k = 0; k < type.nv; ++k) {
      if (couplings.find(j, k)) continue;
      const bool scalar = type.nq == type.nv;
      out.position_of_column.push_back(scalar ? out.nq + range.nq : -1);
      if (scalar) ++range.nq;
      out.rows[size_t(j)][size_t(k)].terms.emplace_back(out.nv + range.nv, 1.0);
      const std::string suffix(type.dof_suffix[size_t(k)]);
      out.dof_names.push_back(joint.name + suffix);
      ++range.nv;
    }
    if (type.nq != type.nv && range.nv > 0) range.nq = type.nq;  // quaternion joints are whole or follow as a whole
    out.nq += range.nq;
    out.nv += range.nv;
  }

  // Couplings may refer to other dependent coordinates; validate() has excluded circles.
  std::function<const Row&(int, int)> resolve = [&](int j, int k) -> const Row& {
    Row& row = out.rows[size_t(j)][size_t(k)];
    const Coupling* c = couplings.find(j, k);
    if (!c || !row.terms.empty()) return row;
    Row sum;
    sum.offset = c->offset;
    for (const Coupling::Term& term : c->terms) {
      accumulate(sum, term.ratio, resolve(couplings.joint(term.dof.joint), term.dof.index));
    }
    return row = sum;
  };
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < info(d.joints[size_t(j)].type).nv; ++k) resolve(j, k);
  }
  return out;
}

}  // namespace kansetsu
