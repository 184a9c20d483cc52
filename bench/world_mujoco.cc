// MuJoCo as a runner of bench_world; without its library there is none.
#include "world_runners.h"

#ifdef KANSETSU_BENCH_MUJOCO
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstdio>

namespace bench {
namespace {

class MujocoRunner : public Runner {
 public:
  explicit MujocoRunner(const PeerInput& in) : in_(in) {
    char error[1000] = "";
    if (in.file.empty()) {
      mjSpec* spec = mj_parseXMLString(in.text.c_str(), nullptr, error, sizeof error);
      if (spec) {
        model_ = mj_compile(spec, nullptr);
        if (!model_) std::snprintf(error, sizeof error, "%s", mjs_getError(spec));
        mj_deleteSpec(spec);
      }
    } else {
      model_ = mj_loadXML(in.file.c_str(), nullptr, error, sizeof error);
    }
    if (!model_) {
      std::fprintf(stderr, "MuJoCo: %s\n", error);
      return;
    }
    model_->opt.timestep = in.time_step;
    for (size_t k = 0; k < in.joints.size(); ++k) {
      const int joint = mj_name2id(model_, mjOBJ_JOINT, in.joints[k].c_str());
      if (joint < 0) std::fprintf(stderr, "MuJoCo: there is no joint '%s'\n", in.joints[k].c_str());
      const int dof = model_->jnt_dofadr[joint];
      dof_.push_back(dof);
      if (in.kp.empty()) continue;
      model_->jnt_stiffness[joint] = in.kp[k];  // PD control that the integrator takes implicitly
      model_->dof_damping[dof] = in.kd[k];
    }
    if (!in.kp.empty()) model_->opt.integrator = mjINT_IMPLICITFAST;
    data_ = mj_makeData(model_);
  }
  MujocoRunner(const MujocoRunner&) = delete;
  MujocoRunner& operator=(const MujocoRunner&) = delete;
  ~MujocoRunner() override {
    if (data_) mj_deleteData(data_);
    if (model_) mj_deleteModel(model_);
  }
  bool good() const { return data_ != nullptr; }

  std::string engine() const override { return in_.name; }
  int steps() const override { return in_.steps; }
  double time_step() const override { return in_.time_step; }
  void reset() override { mj_resetData(model_, data_); }
  void before(int i) override {
    if (in_.restart > 0 && i % in_.restart == 0) reset();
  }
  void step(int i) override {
    const double* row = in_.torque.data() + size_t(i) * dof_.size();
    for (size_t k = 0; k < dof_.size(); ++k) data_->qfrc_applied[dof_[k]] = row[k];
    if (!in_.controls.empty()) std::copy_n(in_.controls.data() + i * model_->nu, model_->nu, data_->ctrl);
    mj_step(model_, data_);
  }
  Quality observe() override {
    model_->opt.enableflags |= mjENBL_ENERGY;
    reset();
    mj_forward(model_, data_);
    const double start = data_->energy[0] + data_->energy[1];
    Quality out;
    double work = 0, change = 0;
    std::vector<double> v(size_t(model_->nv));
    for (int i = 0; i < in_.steps; ++i) {
      if (in_.restart > 0 && i > 0 && i % in_.restart == 0) {
        mj_forward(model_, data_);
        change += data_->energy[0] + data_->energy[1] - start;
        reset();
      }
      std::copy(data_->qvel, data_->qvel + model_->nv, v.begin());
      step(i);
      for (int k = 0; k < model_->nv; ++k) {  // all but the springs, which are in the energy
        const double force = data_->qfrc_applied[k] + data_->qfrc_damper[k] + data_->qfrc_constraint[k];
        work += model_->opt.timestep * force * 0.5 * (v[size_t(k)] + data_->qvel[k]);
      }
      out.contacts += data_->ncon;
      for (int c = 0; c < data_->ncon; ++c) out.penetration = std::max(out.penetration, -data_->contact[c].dist);
    }
    mj_forward(model_, data_);
    out.contacts /= in_.steps;
    out.energy_error = data_->energy[0] + data_->energy[1] - start + change - work;
    model_->opt.enableflags &= ~mjENBL_ENERGY;
    return out;
  }

 private:
  PeerInput in_;
  mjModel* model_ = nullptr;
  mjData* data_ = nullptr;
  std::vector<int> dof_;
};

}  // namespace

std::unique_ptr<Runner> make_peer(const PeerInput& input) {
  auto runner = std::make_unique<MujocoRunner>(input);
  if (!runner->good()) return nullptr;
  return runner;
}

}  // namespace bench

#else

std::unique_ptr<bench::Runner> bench::make_peer(const PeerInput&) { return nullptr; }

#endif
