#pragma once

/// The interface of a library to the driver: one shared object with one exported function. Plain data only, so that each
/// library may be compiled by another compiler, and no symbol of one is linked into another.
///
/// Models, states and results are in Kansetsu's conventions (spatial vectors angular first, quaternions x y z w, free base
/// q = [p, quaternion], v = [ω; v] in base axes); a plug-in converts what it needs when it is created, never while timed.

enum Algorithm {
  kFk,               ///< poses of all bodies                     result: per body R row by row, p
  kJacobians,        ///< motion per coordinate, at the origin    result: 6 × nv, column by column
  kRnea,             ///< result: nv
  kCrba,             ///< result: nv × nv
  kAba,              ///< result: nv
  kMinverse,         ///< result: nv × nv
  kRneaDerivatives,  ///< result: ∂τ/∂q, ∂τ/∂v, M, each nv × nv column by column
  kAbaDerivatives,   ///< result: ∂v̇/∂q, ∂v̇/∂v, M⁻¹
  kAlgorithmCount
};

/// Marks a number of a result that the library does not compute (MuJoCo has no bodies without mass).
constexpr double kNotComputed = 1e300;

enum BodyType { kFreeBody, kRevoluteBody, kPrismaticBody };

struct BodyData {
  int parent;  ///< −1: the world
  BodyType type;
  double R[9], p[3];  ///< pose of the body at q = 0 in its parent, R row by row
  double axis[3];     ///< unit vector, body axes
  double mass, com[3];
  double inertia[6];  ///< about the centre of mass, body axes: xx xy xz yy yz zz
  double rotor_inertia;
  int leader;            ///< −1: the joint has its own coordinate
  double ratio, offset;  ///< else it follows the joint of body `leader`: q = ratio·q_leader + offset
};

struct ModelData {
  const char* name;
  int body_count, nq, nv;
  const BodyData* bodies;  ///< parents first; a free body is body 0
  double gravity[3];
};

/// `count` states, one after the other.
struct StateData {
  int count;
  const double *q, *v, *a, *tau;
};

enum Precision { kFp64, kFp32 };

struct Plugin {
  const char *library, *version, *compiler, *flags;
  const char* instruction_set;

  void* (*create)(const ModelData* model, const StateData* states);  ///< null: model not supported; see error()
  void (*destroy)(void* instance);
  const char* (*error)();
  /// The way number `variant` of doing an algorithm on this model ("" if there is only one), null after the last.
  const char* (*variant)(void* instance, int algorithm, int variant);
  /// One call, as a user would make it. Returns a number of the result.
  double (*run)(void* instance, int algorithm, int variant, int state);
  /// The same, and the whole result. Symmetric matrices are completed.
  void (*result)(void* instance, int algorithm, int variant, int state, double* out);

  /// Many states in one call; all null in libraries without such calls.
  bool (*has_batch)(void* instance, int algorithm, int precision);
  /// States first … first + count − 1 in one call, as a user would make it. Returns a number of the result.
  double (*run_batch)(void* instance, int algorithm, int precision, int threads, int first, int count);
  /// The whole result of one of the states of the last run_batch, counted from its first.
  void (*result_batch)(void* instance, int algorithm, int precision, int index, double* out);

  /// Kansetsu's only, null in others: a model by name, kept until the program ends; null if there is none.
  const ModelData* (*load)(const char* name);
};

#define BENCH_EXPORT extern "C" __attribute__((visibility("default")))
using PluginFunction = const Plugin*();
BENCH_EXPORT const Plugin* bench_plugin();

#if defined(__clang__)
#define BENCH_COMPILER "clang"
#define BENCH_COMPILER_VERSION __clang_version__
#else
#define BENCH_COMPILER "gcc"
#define BENCH_COMPILER_VERSION __VERSION__
#endif
