#pragma once

#include "kansetsu/model/model.h"

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

}  // namespace kansetsu
