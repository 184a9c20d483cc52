#include "model/tree.h"

#include "model/limbs.h"

namespace kansetsu {

void Tree::make_view() {
  view_ = {bodies.data(),
           large.data(),
           rows.data(),
           terms.data(),
           rotor_inertia.data(),
           groups.data(),
           group_members.data(),
           group_columns.data(),
           group_gamma.data(),
           steps.data(),
           int(bodies.size()),
           int(large.size()),
           int(steps.size()),
           nq,
           nv,
           nu,
           group_scratch,
           free_base,
           simple,
           gravity};
  view_.columns = columns.view();
  if (nodes) {
    view_.nodes = &nodes->whole_view;
    view_.trunk = &nodes->trunk_view;
    view_.limbs = nodes->limb_views.data();
    view_.limb_count = int(nodes->limb_views.size());
  }
}

}  // namespace kansetsu
