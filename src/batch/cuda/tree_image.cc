#include "batch/cuda/tree_image.h"

#include <algorithm>

#include "batch/tree_copy.h"

namespace kansetsu::batch::cuda {
namespace {

/// An item in the number type of the image.
template <class Const, class Item>
auto convert(const Item& item) {
  return kernel::copy_constants<Const>(item);
}
template <class Const>
LinkOf<Const> convert(const LinkPlacement& l) {
  return {l.body, lift<Const>(l.X_BL)};
}

/// Appends arrays to a block and returns their places.
class BlockWriter {
 public:
  explicit BlockWriter(std::vector<std::byte>& block) : block_(block) {}

  template <class Item>
  int append(const std::vector<Item>& items) {
    const std::size_t at = (block_.size() + 15) / 16 * 16;
    block_.resize(at + items.size() * sizeof(Item));
    if (!items.empty()) std::memcpy(block_.data() + at, items.data(), items.size() * sizeof(Item));
    return int(at);
  }
  /// The same with every item in the number type of the image.
  template <class Const, class Item>
  int append_as(const std::vector<Item>& items) {
    std::vector<decltype(convert<Const>(items[0]))> converted;
    for (const Item& item : items) converted.push_back(convert<Const>(item));
    return append(converted);
  }

 private:
  std::vector<std::byte>& block_;
};

template <class Const>
std::vector<ColumnOf<Const>> make_columns(const Tree& tree) {
  std::vector<ColumnOf<Const>> out;
  if (!tree.simple) return out;
  std::vector<int> end(tree.bodies.size());
  for (std::size_t i = tree.bodies.size(); i-- > 0;) {  // bodies are numbered depth first
    const Body& b = tree.bodies[i];
    end[i] = std::max(end[i], b.u + b.nu);
    if (b.parent >= 0) end[std::size_t(b.parent)] = std::max(end[std::size_t(b.parent)], end[i]);
  }
  for (std::size_t i = 0; i < tree.bodies.size(); ++i) {
    const Body& b = tree.bodies[i];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      const CoordinateTerm& term = tree.terms[std::size_t(k)];
      const double rotor = term.ratio * term.ratio * tree.rotor_inertia[std::size_t(k)];
      out.push_back({b.u, end[i], term.column, Const(rotor)});
    }
  }
  return out;
}

}  // namespace

template <class Const>
TreeImage<Const> make_tree_image(const Tree& tree) {
  TreeImage<Const> image;
  ImageHeader<Const>& h = image.header;
  BlockWriter writer(image.block);
  h.bodies = writer.append_as<Const>(tree.bodies);
  h.large = writer.append(tree.large);
  h.rows = writer.append_as<Const>(tree.rows);
  h.terms = writer.append_as<Const>(tree.terms);
  h.rotor_inertia = writer.append_as<Const>(tree.rotor_inertia);
  h.groups = writer.append(tree.groups);
  h.group_members = writer.append(tree.group_members);
  h.group_columns = writer.append(tree.group_columns);
  h.group_gamma = writer.append_as<Const>(tree.group_gamma);
  h.steps = writer.append(tree.steps);
  h.links = writer.append_as<Const>(tree.links);
  h.link_count = int(tree.links.size());

  if (const auto lean = make_lean_tree<Const>(tree)) {
    h.lean_nodes = writer.append(lean->nodes);
    h.lean_shape = lean->shape;
  } else {
    h.lean_nodes = 0;
    h.lean_shape = {};
  }
  image.columns = make_columns<Const>(tree);
  image.limbs = make_lean_limbs<Const>(tree);

  const TreeView& view = tree.view();
  h.shape = {};
  h.shape.body_count = view.body_count;
  h.shape.large_count = view.large_count;
  h.shape.step_count = view.step_count;
  h.shape.nq = view.nq;
  h.shape.nv = view.nv;
  h.shape.nu = view.nu;
  h.shape.group_scratch = view.group_scratch;
  h.shape.free_base = view.free_base;
  h.shape.simple = view.simple;
  h.shape.gravity = lift<Const>(view.gravity);
  return image;
}

template TreeImage<float> make_tree_image<float>(const Tree& tree);
template TreeImage<double> make_tree_image<double>(const Tree& tree);

}  // namespace kansetsu::batch::cuda
