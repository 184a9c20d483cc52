#pragma once

#include "plugin.h"

/// What a peer of the benchmark of constrained dynamics looks like; see plugin.h for conventions.

/// Rows of a frame that is held: of body b, relative to body a.
struct ContactData {
  int a, b;               ///< bodies; a = −1: the world
  double R_a[9], p_a[3];  ///< the frame in a at the first state, R row by row
  double R_b[9], p_b[3];  ///< the frame in b
  int rows;               ///< 3: its point; 6: all of it
};

struct ConstrainedPeer {
  const char *library, *version, *flags;
  void* (*create)(const ModelData* model, const StateData* states, const ContactData* contacts, int count);
  void (*destroy)(void* instance);
  double (*forward)(void* instance, int state);
  double (*derivatives)(void* instance, int state);  ///< with forward dynamics
  /// v̇ (nv), ∂v̇/∂q, ∂v̇/∂v, ∂v̇/∂τ (nv × nv each) of the last derivatives().
  void (*result)(void* instance, double* out);
};

using ConstrainedPeerFunction = const ConstrainedPeer*();
BENCH_EXPORT const ConstrainedPeer* bench_constrained();
