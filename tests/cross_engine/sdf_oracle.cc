/// What libsdformat finds in an SDF or URDF file, as JSON: poses of links, inertials and joints in the world; with --text, the file as SDF.
///
///   c++ sdf_oracle.cc $(pkg-config --cflags --libs sdformat12)

#include <cstdint>
#include <cstdio>
#include <sdf/sdf.hh>
#include <string>

namespace {

bool first = true;

void print_pose(const ignition::math::Pose3d& X) {
  std::printf("[%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g]", X.Pos().X(), X.Pos().Y(), X.Pos().Z(), X.Rot().X(),
              X.Rot().Y(), X.Rot().Z(), X.Rot().W());
}

void start(const char* kind, const std::string& name) {
  std::printf("%s{\"kind\":\"%s\",\"name\":\"%s\",\"pose\":", first ? "" : ",\n", kind, name.c_str());
  first = false;
}

void print_model(const sdf::Model& model, const ignition::math::Pose3d& X_WM, const std::string& prefix) {
  ignition::math::Pose3d X;
  for (std::uint64_t i = 0; i < model.LinkCount(); ++i) {
    const sdf::Link* link = model.LinkByIndex(i);
    link->SemanticPose().Resolve(X, "__model__");
    const ignition::math::Inertiald inertial = link->Inertial();
    const ignition::math::Pose3d X_WL = X_WM * X, X_WI = X_WL * inertial.Pose();
    start("link", prefix + link->Name());
    print_pose(X_WL);
    std::printf(",\"mass\":%.17g,\"com\":[%.17g,%.17g,%.17g]}", inertial.MassMatrix().Mass(), X_WI.Pos().X(),
                X_WI.Pos().Y(), X_WI.Pos().Z());
  }
  for (std::uint64_t i = 0; i < model.JointCount(); ++i) {
    const sdf::Joint* joint = model.JointByIndex(i);
    joint->SemanticPose().Resolve(X, "__model__");
    start("joint", prefix + joint->Name());
    print_pose(X_WM * X);
    ignition::math::Vector3d axis(0, 0, 0);
    if (joint->Axis()) joint->Axis()->ResolveXyz(axis, "__model__");
    axis = X_WM.Rot() * axis;
    std::printf(",\"axis\":[%.17g,%.17g,%.17g]}", axis.X(), axis.Y(), axis.Z());
  }
  for (std::uint64_t i = 0; i < model.ModelCount(); ++i) {
    const sdf::Model* inner = model.ModelByIndex(i);
    inner->SemanticPose().Resolve(X, "__model__");
    print_model(*inner, X_WM * X, prefix + inner->Name() + "::");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  sdf::Root root;
  const sdf::Errors errors = root.Load(argv[1]);
  for (const auto& error : errors) std::fprintf(stderr, "%s\n", error.Message().c_str());
  if (!errors.empty()) return 1;
  if (argc > 2 && std::string(argv[2]) == "--text") {
    std::printf("%s\n", root.Element()->ToString("").c_str());
    return 0;
  }
  std::printf("[");
  if (const sdf::World* world = root.WorldCount() > 0 ? root.WorldByIndex(0) : nullptr) {
    for (std::uint64_t i = 0; i < world->ModelCount(); ++i) {
      ignition::math::Pose3d X;
      world->ModelByIndex(i)->SemanticPose().Resolve(X);
      print_model(*world->ModelByIndex(i), X, "");
    }
  } else if (const sdf::Model* model = root.Model()) {
    print_model(*model, model->RawPose(), "");
  }
  std::printf("]\n");
  return 0;
}
