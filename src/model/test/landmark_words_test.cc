#include "model/landmark_words.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

using namespace kansetsu;

namespace {

/// "Hips Spine<Hips LeftUpLeg<Hips": bones with their parents, in order.
Capture skeleton(const char* text) {
  Capture out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    for (char& c : word)
      if (c == '~') c = ' ';
    const std::size_t at = word.find('<');
    Bone bone{.name = word.substr(0, at)};
    if (at != std::string::npos) {
      const auto parent = out.find_bone(word.substr(at + 1));
      REQUIRE(parent);
      bone.parent = *parent;
    }
    out.bones.push_back(bone);
  }
  return out;
}

struct Naming {
  const char *who, *bones, *landmarks;  ///< in the order of Landmark; "-": not there
};

// Names as these programs and collections write them, with what they put between: collars, twists, a root below the hips.
constexpr Naming kNamings[] = {
    {"LAFAN1",
     "Hips LeftUpLeg<Hips LeftLeg<LeftUpLeg LeftFoot<LeftLeg LeftToe<LeftFoot RightUpLeg<Hips RightLeg<RightUpLeg "
     "RightFoot<RightLeg RightToe<RightFoot Spine<Hips Spine1<Spine Spine2<Spine1 Neck<Spine2 Head<Neck "
     "LeftShoulder<Spine2 "
     "LeftArm<LeftShoulder LeftForeArm<LeftArm LeftHand<LeftForeArm RightShoulder<Spine2 RightArm<RightShoulder "
     "RightForeArm<RightArm RightHand<RightForeArm",
     "Hips Spine2 Neck Head LeftUpLeg LeftLeg LeftFoot LeftToe RightUpLeg RightLeg RightFoot RightToe LeftArm "
     "LeftForeArm "
     "LeftHand RightArm RightForeArm RightHand"},
    {"Unreal",
     "root pelvis<root spine_01<pelvis spine_02<spine_01 spine_03<spine_02 neck_01<spine_03 head<neck_01 "
     "clavicle_l<spine_03 upperarm_l<clavicle_l upperarm_twist_01_l<upperarm_l lowerarm_l<upperarm_l "
     "lowerarm_twist_01_l<lowerarm_l hand_l<lowerarm_l index_01_l<hand_l clavicle_r<spine_03 upperarm_r<clavicle_r "
     "lowerarm_r<upperarm_r hand_r<lowerarm_r thigh_l<pelvis thigh_twist_01_l<thigh_l calf_twist_01_l<thigh_l "
     "calf_l<thigh_l "
     "foot_l<calf_l ball_l<foot_l thigh_r<pelvis calf_r<thigh_r foot_r<calf_r ball_r<foot_r",
     "pelvis spine_03 neck_01 head thigh_l calf_l foot_l ball_l thigh_r calf_r foot_r ball_r upperarm_l lowerarm_l "
     "hand_l "
     "upperarm_r lowerarm_r hand_r"},
    {"Biped",
     "Bip01 Bip01~Pelvis<Bip01 Bip01~Spine<Bip01~Pelvis Bip01~L~Thigh<Bip01~Pelvis Bip01~L~Calf<Bip01~L~Thigh "
     "Bip01~L~Foot<Bip01~L~Calf Bip01~L~Toe0<Bip01~L~Foot Bip01~R~Thigh<Bip01~Pelvis Bip01~R~Calf<Bip01~R~Thigh "
     "Bip01~R~Foot<Bip01~R~Calf Bip01~R~Toe0<Bip01~R~Foot Bip01~Spine1<Bip01~Spine Bip01~Neck<Bip01~Spine1 "
     "Bip01~Head<Bip01~Neck Bip01~L~Clavicle<Bip01~Neck Bip01~L~UpperArm<Bip01~L~Clavicle "
     "Bip01~L~Forearm<Bip01~L~UpperArm Bip01~L~Hand<Bip01~L~Forearm Bip01~R~Clavicle<Bip01~Neck "
     "Bip01~R~UpperArm<Bip01~R~Clavicle Bip01~R~Forearm<Bip01~R~UpperArm Bip01~R~Hand<Bip01~R~Forearm",
     "Bip01~Pelvis Bip01~Neck Bip01~Neck Bip01~Head Bip01~L~Thigh Bip01~L~Calf Bip01~L~Foot Bip01~L~Toe0 Bip01~R~Thigh "
     "Bip01~R~Calf Bip01~R~Foot Bip01~R~Toe0 Bip01~L~UpperArm Bip01~L~Forearm Bip01~L~Hand Bip01~R~UpperArm "
     "Bip01~R~Forearm Bip01~R~Hand"},
    {"Motive",
     "Hip Ab<Hip Chest<Ab Neck<Chest Head<Neck LShoulder<Chest LUArm<LShoulder LFArm<LUArm LHand<LFArm RShoulder<Chest "
     "RUArm<RShoulder RFArm<RUArm RHand<RFArm LThigh<Hip LShin<LThigh LFoot<LShin LToe<LFoot RThigh<Hip RShin<RThigh "
     "RFoot<RShin RToe<RFoot",
     "Hip Chest Neck Head LThigh LShin LFoot LToe RThigh RShin RFoot RToe LUArm LFArm LHand RUArm RFArm RHand"},
    {"Bandai Namco",
     "joint_Root Hips<joint_Root Spine<Hips Chest<Spine Neck<Chest Head<Neck Shoulder_L<Chest UpperArm_L<Shoulder_L "
     "LowerArm_L<UpperArm_L Hand_L<LowerArm_L Shoulder_R<Chest UpperArm_R<Shoulder_R LowerArm_R<UpperArm_R "
     "Hand_R<LowerArm_R UpperLeg_L<Hips LowerLeg_L<UpperLeg_L Foot_L<LowerLeg_L Toes_L<Foot_L UpperLeg_R<Hips "
     "LowerLeg_R<UpperLeg_R Foot_R<LowerLeg_R Toes_R<Foot_R",
     "Hips Chest Neck Head UpperLeg_L LowerLeg_L Foot_L Toes_L UpperLeg_R LowerLeg_R Foot_R Toes_R UpperArm_L "
     "LowerArm_L "
     "Hand_L UpperArm_R LowerArm_R Hand_R"},
    {"Rigify",
     "spine thigh.L<spine shin.L<thigh.L foot.L<shin.L toe.L<foot.L thigh.R<spine shin.R<thigh.R foot.R<shin.R "
     "toe.R<foot.R "
     "spine.003<spine shoulder.L<spine.003 upper_arm.L<shoulder.L forearm.L<upper_arm.L hand.L<forearm.L "
     "shoulder.R<spine.003 upper_arm.R<shoulder.R forearm.R<upper_arm.R hand.R<forearm.R",
     "spine spine.003 - - thigh.L shin.L foot.L toe.L thigh.R shin.R foot.R toe.R upper_arm.L forearm.L hand.L "
     "upper_arm.R "
     "forearm.R hand.R"},
    {"Kinect",
     "SpineBase SpineShoulder<SpineBase Neck<SpineShoulder Head<Neck ShoulderLeft<SpineShoulder ElbowLeft<ShoulderLeft "
     "WristLeft<ElbowLeft HandLeft<WristLeft ShoulderRight<SpineShoulder ElbowRight<ShoulderRight "
     "WristRight<ElbowRight "
     "HipLeft<SpineBase KneeLeft<HipLeft AnkleLeft<KneeLeft FootLeft<AnkleLeft HipRight<SpineBase KneeRight<HipRight "
     "AnkleRight<KneeRight FootRight<AnkleRight",
     "SpineBase SpineShoulder Neck Head HipLeft KneeLeft AnkleLeft FootLeft HipRight KneeRight AnkleRight FootRight "
     "ShoulderLeft ElbowLeft WristLeft ShoulderRight ElbowRight WristRight"},
    {"lower case",
     "root lthigh<root lshin<lthigh lfoot<lshin ltoes<lfoot rightthigh<root rightshin<rightthigh rightfoot<rightshin",
     "root - - - lthigh lshin lfoot ltoes rightthigh rightshin rightfoot - - - - - - -"}};

}  // namespace

TEST_CASE("skeletons that no table knows are read by the words of their names") {
  for (const Naming& naming : kNamings) {
    CAPTURE(naming.who);
    const Capture capture = skeleton(naming.bones);
    const LandmarkTable table = table_from_words(capture);
    std::istringstream names(naming.landmarks);
    for (int l = 0; l < kLandmarkCount; ++l) {
      std::string name;
      names >> name;
      std::replace(name.begin(), name.end(), '~', ' ');
      CAPTURE(kLandmarkNames[std::size_t(l)]);
      const auto found = table.bones.find(Landmark(l));
      CHECK((found == table.bones.end() ? "-" : found->second) == name);
    }
    CHECK(best_table(capture).bones.at(Landmark::kKneeL) == table.bones.at(Landmark::kKneeL));
  }
}

TEST_CASE("a foot without toes ends in its tip, and what has no limbs has no landmarks") {
  Capture c = skeleton("Pelvis L_Thigh<Pelvis L_Shin<L_Thigh L_Foot<L_Shin");
  c.bones.back().tip = Vec3<>{0, 0, 1};
  CHECK(table_from_words(c).bones.at(Landmark::kToeL) == "L_Foot.tip");
  CHECK(table_from_words(skeleton("a b<a left<b leg<left")).bones.empty());
  CHECK(table_from_words(Capture{}).bones.empty());
  // One leg alone has no pelvis above both.
  CHECK(!table_from_words(c).bones.contains(Landmark::kPelvis));
}
