#include "kansetsu/model/joint_type.h"

#include <algorithm>
#include <array>

namespace kansetsu {
namespace {

using Kind = PrimitiveKind;
using Axis = PrimitiveAxis;
using Text = std::string_view;

constexpr std::array kRevolute{Primitive{Kind::kHinge, Axis::kAxis, 0}};
constexpr std::array kPrismatic{Primitive{Kind::kSlide, Axis::kAxis, 0}};
constexpr std::array kHelical{Primitive{Kind::kScrew, Axis::kAxis, 0}};
constexpr std::array kCylindrical{Primitive{Kind::kSlide, Axis::kAxis, 0}, Primitive{Kind::kHinge, Axis::kAxis, 1}};
constexpr std::array kUniversal{Primitive{Kind::kHinge, Axis::kAxis, 0}, Primitive{Kind::kHinge, Axis::kSecondAxis, 1}};
constexpr std::array kPlanar{Primitive{Kind::kSlide, Axis::kPlaneX, 0}, Primitive{Kind::kSlide, Axis::kPlaneY, 1},
                             Primitive{Kind::kHinge, Axis::kAxis, 2}};
constexpr std::array kBall{Primitive{Kind::kBall, Axis::kZ, 0}};
// R = Rz(qz) Ry(qy) Rx(qx) turns about z first, but its coordinates are written (qx, qy, qz).
constexpr std::array kBallZyx{Primitive{Kind::kHinge, Axis::kZ, 2}, Primitive{Kind::kHinge, Axis::kY, 1},
                              Primitive{Kind::kHinge, Axis::kX, 0}};
constexpr std::array kFree{Primitive{Kind::kFree, Axis::kZ, 0}};

constexpr std::array<Text, 1> kOne{""};
constexpr std::array<Text, 2> kSlideTurn{".d", ".q"};
constexpr std::array<Text, 2> kTwoTurns{".q1", ".q2"};
constexpr std::array<Text, 3> kPlane{".x", ".y", ".q"};
constexpr std::array<Text, 3> kOmega{".wx", ".wy", ".wz"};
constexpr std::array<Text, 3> kEuler{".qx", ".qy", ".qz"};
constexpr std::array<Text, 6> kTwist{".omega_x", ".omega_y", ".omega_z", ".v_x", ".v_y", ".v_z"};

/// In the order of the enumeration, so that info() is an index.
constexpr std::array<JointTypeInfo, 10> kTable{{
    {JointType::kFixed, "fixed", 0, 0, {}, {}},
    {JointType::kRevolute, "revolute", 1, 1, kRevolute, kOne},
    {JointType::kPrismatic, "prismatic", 1, 1, kPrismatic, kOne},
    {JointType::kHelical, "helical", 1, 1, kHelical, kOne},
    {JointType::kCylindrical, "cylindrical", 2, 2, kCylindrical, kSlideTurn},
    {JointType::kUniversal, "universal", 2, 2, kUniversal, kTwoTurns},
    {JointType::kPlanar, "planar", 3, 3, kPlanar, kPlane},
    {JointType::kBall, "ball", 4, 3, kBall, kOmega},
    {JointType::kBallZyx, "ball_zyx", 3, 3, kBallZyx, kEuler},
    {JointType::kFree, "free", 7, 6, kFree, kTwist},
}};

}  // namespace

const JointTypeInfo& info(JointType type) { return kTable[std::size_t(type)]; }

std::span<const JointTypeInfo> joint_table() { return kTable; }

std::optional<JointType> find_joint_type(std::string_view name) {
  const auto it = std::ranges::find(kTable, name, &JointTypeInfo::name);
  if (it == kTable.end()) return std::nullopt;
  return it->type;
}

}  // namespace kansetsu
