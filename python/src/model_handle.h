#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "bindings.h"
#include "kansetsu/batch/batch.h"
#include "kansetsu/dynamics/derivatives.h"
#include "kansetsu/kinematics/centroidal.h"

namespace kansetsu::python {

/// Counts forks: threads of the parent do not exist in the child.
unsigned fork_count();

/// Memory for functions of one state, one caller at a time.
struct Scratch {
  explicit Scratch(const Model& model);
  State state;
  Workspace work;
  AbaResult aba;
  ExternalForces external;
  LinkPoses poses;
};

/// Python's Model: a model, and memory that is reused by its functions.
class ModelHandle {
 public:
  explicit ModelHandle(Model m) : model(std::move(m)) {}
  ~ModelHandle();
  ModelHandle(const ModelHandle&) = delete;
  ModelHandle& operator=(const ModelHandle&) = delete;

  const Model model;
  nb::object dof_names, position_names;  ///< kansetsu.Names, made on first use
  nb::object devices;                    ///< a dict: the model on each device in use, see kansetsu/_device.py

  /// Scratch memory, returned by the destructor.
  class Borrowed {
   public:
    Borrowed(ModelHandle& owner, Scratch* scratch) : owner_(owner), scratch_(scratch) {}
    ~Borrowed() { owner_.give_back(scratch_); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    Scratch* operator->() { return scratch_; }
    Scratch& operator*() { return *scratch_; }

   private:
    ModelHandle& owner_;
    Scratch* scratch_;
  };
  Borrowed scratch() { return {*this, take()}; }

  /// Calls job(batch) with a Batch of this number of threads, without the GIL.
  template <class Real, class Job>
  void with_batch(int threads, Job&& job) {
    std::unique_ptr<Kept<Real>> kept = take_batch<Real>(threads);
    {
      nb::gil_scoped_release release;
      job(kept->batch);
    }
    keep_batch(std::move(kept));
  }

 private:
  template <class Real>
  struct Kept {
    Kept(const Model& m, int t) : threads(t), forks(fork_count()), batch(m, {.threads = t}) {}
    int threads;
    unsigned forks;
    batch::Batch<Real> batch;
  };
  template <class Real>
  using Pool = std::vector<std::unique_ptr<Kept<Real>>>;
  template <class Real>
  Pool<Real>& pool() {
    if constexpr (sizeof(Real) == sizeof(double))
      return doubles_;
    else
      return floats_;
  }

  Scratch* take();
  void give_back(Scratch* scratch);
  template <class Real>
  std::unique_ptr<Kept<Real>> take_batch(int threads);
  template <class Real>
  void keep_batch(std::unique_ptr<Kept<Real>> kept);

  std::array<std::atomic<Scratch*>, 8> spare_{};
  std::mutex mutex_;
  Pool<double> doubles_;
  Pool<float> floats_;
};

/// The Python object of a model.
using ModelObject = nb::typed<nb::object, ModelHandle>;

inline ModelHandle* handle_of(Model model) { return new ModelHandle(std::move(model)); }

}  // namespace kansetsu::python
