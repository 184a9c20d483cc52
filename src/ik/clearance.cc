#include "kansetsu/ik/task.h"
#include "model/tree.h"

namespace kansetsu::ik {
namespace {

std::vector<ShapeOn> shapes_of(const Model& model, LinkId link) {
  std::vector<ShapeOn> shapes;
  for (const LinkShape& s : model.link(link).collisions) {
    if (!std::holds_alternative<Mesh>(s.shape)) shapes.push_back({Geometry(s.shape), link, to_transform(s.origin)});
  }
  return shapes;
}

}  // namespace

std::vector<Clearance> self_clearances(const Model& model, double least) {
  std::vector<Clearance> all;
  for (int a = 0; a < model.link_count(); ++a) {
    for (int b = a + 1; b < model.link_count(); ++b) {
      if (!model.may_collide(LinkId(a), LinkId(b))) continue;
      for (const ShapeOn& first : shapes_of(model, LinkId(a))) {
        for (const ShapeOn& second : shapes_of(model, LinkId(b))) all.push_back({first, second, least});
      }
    }
  }
  return all;
}

std::vector<Clearance> obstacle_clearances(const Model& model, const ShapeOn& obstacle, double least) {
  std::vector<Clearance> all;
  for (int i = 0; i < model.link_count(); ++i) {
    if (model.tree().links[size_t(i)].body < 0) continue;
    for (const ShapeOn& shape : shapes_of(model, LinkId(i))) all.push_back({shape, obstacle, least});
  }
  return all;
}

}  // namespace kansetsu::ik
