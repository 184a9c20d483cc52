#pragma once

#include "kansetsu/base/error.h"
#include "kansetsu/model/configuration.h"

namespace kansetsu {

/// While one lives, the workspace serves one function. Every function that takes a workspace begins with it: it throws Error where
/// the workspace is too small for the model and, in builds with assertions, where another thread is using it.
class [[maybe_unused]] WorkspaceUse {
 public:
#ifdef NDEBUG
  WorkspaceUse(Workspace& work, const char* function, const Model& model) { work.check(function, model); }
#else
  WorkspaceUse(Workspace& work, const char* function, const Model& model);
  ~WorkspaceUse();
#endif
  WorkspaceUse(const WorkspaceUse&) = delete;
  WorkspaceUse& operator=(const WorkspaceUse&) = delete;

#ifndef NDEBUG
 private:
  Workspace* held_ = nullptr;  ///< the outermost of nested uses holds it
#endif
};

/// Checks q and takes the workspace.
[[nodiscard]] inline WorkspaceUse use_workspace(const char* function, const Model& model, const VectorRef& q,
                                                Workspace& work) {
  check_size(function, "q", q.size(), model.nq());
  return WorkspaceUse(work, function, model);
}
/// The same with v.
[[nodiscard]] inline WorkspaceUse use_workspace(const char* function, const Model& model, const State& state,
                                                Workspace& work) {
  check_size(function, "q", state.q.size(), model.nq());
  check_size(function, "v", state.v.size(), model.nv());
  return WorkspaceUse(work, function, model);
}

}  // namespace kansetsu
